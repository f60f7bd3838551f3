// SPDX-License-Identifier: GPL-2.0
// Stateless search: a run asks for choices; the next run repeats all but the last
// that had an alternative left, and takes that.
#ifndef MODEL_CHOICES_H
#define MODEL_CHOICES_H

#include <cstddef>
#include <vector>

class Choices {
public:
    // One of 0 .. options - 1.
    unsigned pick(unsigned options) {
        if (options <= 1)
            return 0;
        if (depth_ == path_.size())
            path_.push_back({0, options});
        return path_[depth_++].taken;
    }

    // Prepares the next run; false when every one was made.
    bool next() {
        path_.resize(depth_);
        while (!path_.empty() && path_.back().taken + 1 == path_.back().options)
            path_.pop_back();
        depth_ = 0;
        if (path_.empty())
            return false;
        path_.back().taken++;
        return true;
    }

private:
    struct Point {
        unsigned taken;
        unsigned options;
    };
    std::vector<Point> path_;
    std::size_t depth_ = 0;
};

#endif
