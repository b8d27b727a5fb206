/*
 * A list for each of a few priorities, and a word that says which are not empty.
 */
#include "priority.hpp"

#define PEER_NAME "Boost.Fiber, priority buckets"
#define ONLY_PRIORITIES

class algorithm : public priority_base {
    boost::fibers::scheduler::ready_queue_type ready[32];
    unsigned filled = 0;

  public:
    void awakened(boost::fibers::context *fiber, priority_property &property) noexcept override {
        ready[property.level].push_back(*fiber);
        filled |= 1u << property.level;
    }
    boost::fibers::context *pick_next() noexcept override {
        if (filled == 0)
            return nullptr;
        int level = 31 - __builtin_clz(filled);
        boost::fibers::context *fiber = &ready[level].front();
        ready[level].pop_front();
        if (ready[level].empty())
            filled &= ~(1u << level);
        return fiber;
    }
    bool has_ready_fibers() const noexcept override { return filled != 0; }
};
