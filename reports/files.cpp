#include "reports/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace handoff {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
  throw OutputError(fmt::format("{}: {}: {}", path, what, std::strerror(error)));
}

// Without "/." or "/" at its end, which have no parent to stand beside.
std::string plain_path(const std::string& path) {
  fs::path p = fs::path(path).lexically_normal();
  if (p.filename().empty()) p = p.parent_path();
  if (p.empty() || p == "." || p == ".." || p == p.root_path())
    throw OutputError(fmt::format("{}: not a folder that can be replaced; name a new one", path));
  return p.string();
}

void refuse_foreign(const std::string& path, const std::string& mark_file) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status)) throw OutputError(path + ": is there and is no folder");
  const bool empty = fs::is_empty(path, error);
  if (error) fail(path, "cannot be read", error.value());
  if (!empty && !fs::exists(fs::path(path) / mark_file))
    throw OutputError(fmt::format(
        "{}: is there and holds files that no earlier run wrote (no {}); name another folder", path,
        mark_file));
}

}  // namespace

OutputFolder::OutputFolder(const std::string& path, std::string mark_file)
    : path_(plain_path(path)), mark_file_(std::move(mark_file)) {
  refuse_foreign(path_, mark_file_);
  const fs::path place(path_);
  std::error_code error;
  if (place.has_parent_path()) fs::create_directories(place.parent_path(), error);
  if (error) fail(place.parent_path().string(), "cannot be made", error.value());
  std::string draft =
      (place.parent_path() / ("." + place.filename().string() + ".draft-XXXXXX")).string();
  if (::mkdtemp(draft.data()) == nullptr) fail(path_, "no folder can be made beside it", errno);
  draft_ = draft;
  fs::permissions(draft_, fs::perms(0755), error);
}

OutputFolder::~OutputFolder() {
  streams_.clear();
  std::error_code error;
  if (!draft_.empty()) fs::remove_all(draft_, error);
}

void OutputFolder::write(const std::string& name, const std::string& text) {
  open(name).write(text);
}

OutputFolder::Stream& OutputFolder::open(const std::string& name) {
  const std::string path = (fs::path(draft_) / name).string();
  std::FILE* file = std::fopen(path.c_str(), "wbx");
  if (file == nullptr) fail((fs::path(path_) / name).string(), "cannot be written", errno);
  streams_.push_back(std::unique_ptr<Stream>(new Stream((fs::path(path_) / name).string(), file)));
  return *streams_.back();
}

void OutputFolder::Stream::write(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size())
    fail(path_, "cannot be written", errno);
}

void OutputFolder::Stream::close() {
  if (std::fclose(file_.release()) != 0) fail(path_, "cannot be written", errno);
}

void OutputFolder::commit() {
  for (const auto& stream : streams_) stream->close();
  streams_.clear();
  refuse_foreign(path_, mark_file_);
  // Exchanged in one step with what is there, which then lies under the draft's name.
  if (::renameat2(AT_FDCWD, draft_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) {
    std::error_code error;
    fs::remove_all(draft_, error);
  } else if (errno != ENOENT) {
    fail(path_, "cannot be replaced", errno);
  } else if (std::rename(draft_.c_str(), path_.c_str()) != 0) {
    fail(path_, "cannot be made", errno);
  }
  draft_.clear();
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  std::error_code error;
  if (path_.empty()) throw OutputError("an output file needs a name");
  if (fs::is_directory(path_, error)) throw OutputError(path_ + ": is a folder");
  const fs::path folder = fs::path(path_).parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
    fail(folder.empty() ? path_ : folder.string(), "cannot be written", errno);
}

void OutputFile::write(const std::string& text) const {
  OutputStream stream(path_);
  stream.append(text);
  stream.commit();
}

OutputStream::OutputStream(const std::string& path) : path_(path), file_(nullptr, &std::fclose) {
  const OutputFile checked(path);
  std::error_code error;
  // A pipe or a device cannot be replaced, only written.
  const bool special = fs::exists(path_, error) && !fs::is_regular_file(path_, error);
  std::string draft = path_ + ".draft-XXXXXX";
  const int descriptor =
      special ? ::open(path_.c_str(), O_WRONLY | O_CLOEXEC) : ::mkstemp(draft.data());
  if (descriptor < 0) fail(path_, "cannot be written", errno);
  if (!special) draft_ = draft;
  file_.reset(::fdopen(descriptor, "wb"));
  if (!file_) fail(path_, "cannot be written", errno);
}

OutputStream::~OutputStream() {
  file_.reset();
  if (!draft_.empty()) ::unlink(draft_.c_str());
}

void OutputStream::append(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size())
    fail(path_, "cannot be written", errno);
}

void OutputStream::commit() {
  if (std::fclose(file_.release()) != 0) fail(path_, "cannot be written", errno);
  if (draft_.empty()) return;
  if (::chmod(draft_.c_str(), 0644) != 0 || std::rename(draft_.c_str(), path_.c_str()) != 0)
    fail(path_, "cannot be written", errno);
  draft_.clear();
}

}  // namespace handoff
