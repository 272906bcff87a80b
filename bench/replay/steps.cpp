/* SPDX-License-Identifier: MIT */
/* Reading the steps, and checking them: a step that drops what is not held would damage a lock. */
#include "replay/steps.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <map>

namespace bench {

namespace {

constexpr std::uint32_t most_threads = 1024, most_locks = 1U << 20;
constexpr std::uint32_t most_steps = 1U << 24;

class reader {
  public:
    explicit reader(const std::string &path) : path_(path), in_(path, std::ios::binary)
    {
        if (!in_)
            throw bad_input("The file " + path +
                            " cannot be read: name one that `pawl replay` "
                            "wrote.");
    }
    void bytes(void *to, std::size_t count)
    {
        if (!in_.read(static_cast<char *>(to), static_cast<std::streamsize>(count)))
            refuse();
    }
    std::uint32_t number(std::uint32_t most)
    {
        std::uint32_t n = 0;
        bytes(&n, sizeof n);
        if (n > most)
            refuse();
        return n;
    }
    [[noreturn]] void refuse() const
    {
        throw bad_input("The file " + path_ +
                        " holds no steps: name one that `pawl replay` "
                        "wrote.");
    }

  private:
    const std::string path_;
    std::ifstream in_;
};

/* The state in which a thread holds a lock, as steps change it; U: absent. */
class holder {
  public:
    bool allows(const step &s, const step_file &file)
    {
        if (s.what == op::work || s.what == op::sleep)
            return true;
        if (s.what >= op::ops || s.lock >= file.kinds.size())
            return false;
        const bool reads = file.kinds[s.lock] == lock_kind::rwlock;
        char &state = held_[s.lock];
        const char before = state;
        switch (s.what) {
        case op::take_read: state = 'R'; return before == 0 && reads;
        case op::take_write: state = 'W'; return before == 0;
        case op::take_seek: state = 'S'; return before == 0 && reads && file.replaced[s.lock];
        case op::try_seek: state = 'S'; return before == 'R' && file.replaced[s.lock];
        case op::seek_to_write: state = 'W'; return before == 'S';
        case op::drop_read: state = 0; return before == 'R';
        default: state = 0; return before == 'W';
        }
    }
    bool is_done() const
    {
        return std::all_of(held_.begin(), held_.end(), [](const auto &h) { return h.second == 0; });
    }

  private:
    std::map<std::uint32_t, char> held_;
};

std::vector<step> read_thread(reader &in, std::uint32_t count, const step_file &file)
{
    std::vector<step> steps(count);
    holder thread;
    if (count != 0)
        in.bytes(steps.data(), count * sizeof(step));
    for (const step &s : steps)
        if (!thread.allows(s, file))
            in.refuse();
    if (!thread.is_done())
        in.refuse();
    return steps;
}

} // namespace

step_file read_steps(const std::string &path)
{
    reader in(path);
    step_file file;
    char magic[8];
    in.bytes(magic, sizeof magic);
    if (std::memcmp(magic, "PAWLSTP1", sizeof magic) != 0)
        in.refuse();
    const std::uint32_t threads = in.number(most_threads), locks = in.number(most_locks);
    for (std::uint32_t i = 0; i < locks; i++) {
        std::uint8_t kind = 0;
        in.bytes(&kind, 1);
        if (kind > static_cast<std::uint8_t>(lock_kind::spin))
            in.refuse();
        file.kinds.push_back(static_cast<lock_kind>(kind));
    }
    for (std::uint32_t i = 0; i < locks; i++) {
        std::uint8_t marks = 0;
        in.bytes(&marks, 1);
        file.replaced.push_back((marks & 1) != 0);
        file.has_short_sections.push_back((marks & 2) != 0);
    }
    std::vector<std::array<std::uint32_t, 3>> counts(threads);
    for (auto &of_thread : counts)
        for (std::uint32_t &count : of_thread)
            count = in.number(most_steps);
    std::size_t which = 0;
    for (auto *list : {&file.original, &file.plain, &file.upgraded}) {
        for (const auto &of_thread : counts)
            list->push_back(read_thread(in, of_thread[which], file));
        which++;
    }
    return file;
}

} // namespace bench
