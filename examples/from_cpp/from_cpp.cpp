// Work in the background, and requests: examples/from_cpp/README.md.

#include <catapults.hpp>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>

namespace {

int steps, indexed;

// What takes a while. At its end the policy says who goes on.
void step() {
    steps++;
    catapults::this_thread::yield();
}

class requests {
    catapults::mutex lock_;
    catapults::condition_variable came_;
    std::deque<const char *> waiting_;
    bool closed_ = false;

  public:
    void send(const char *request) {
        std::lock_guard held(lock_);
        waiting_.push_back(request);
        came_.notify_one();
    }

    void close() {
        std::lock_guard held(lock_);
        closed_ = true;
        came_.notify_one();
    }

    // nullptr: none will come any more.
    const char *next() {
        std::unique_lock held(lock_);
        came_.wait(held, [&] { return closed_ || !waiting_.empty(); });
        if (waiting_.empty())
            return nullptr;
        const char *request = waiting_.front();
        waiting_.pop_front();
        return request;
    }
};

void index(std::stop_token stop) {
    for (; !stop.stop_requested(); indexed++)
        step();
}

void answer(requests &all) {
    while (const char *request = all.next()) {
        for (int i = 0; i < 4; i++)
            step();
        std::printf("%-8s answered after %2d steps\n", request, steps);
    }
}

} // namespace

int main() {
    catapults::start();
    requests all;
    catapults::jthread indexer(catapults::attributes().name("index").value("background", true), index);
    catapults::jthread answers(catapults::attributes().name("answers"), answer, std::ref(all));
    for (const char *request : {"page", "picture", "film"})
        all.send(request);
    all.close();
    answers.join();
    std::printf("of these, %d were steps of the index\n", indexed);
    // Here the indexer is asked to stop, and waited for.
}
