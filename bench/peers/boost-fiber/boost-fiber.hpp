/*
 * The priority scheduler of Boost.Fiber's documentation ("Customization"): one list, in order of priority.
 */
#include "priority.hpp"

#define PEER_NAME "Boost.Fiber, priorities as documented"

class algorithm : public priority_base {
    typedef boost::fibers::scheduler::ready_queue_type queue;
    queue ready;

  public:
    void awakened(boost::fibers::context *fiber, priority_property &property) noexcept override {
        queue::iterator place = ready.begin();
        while (place != ready.end() && properties(&*place).level >= property.level)
            ++place;
        ready.insert(place, *fiber);
    }
    boost::fibers::context *pick_next() noexcept override {
        if (ready.empty())
            return nullptr;
        boost::fibers::context *fiber = &ready.front();
        ready.pop_front();
        return fiber;
    }
    bool has_ready_fibers() const noexcept override { return !ready.empty(); }
};
