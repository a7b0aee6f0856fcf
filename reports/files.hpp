// Output that is there whole or not at all: made beside its place, moved into it in one step.
#pragma once

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace handoff {

// Output that cannot be written. what() names the path and why.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A folder of files. Until commit() nothing is at `path`, or what was there before; without it the
// files are removed. A folder that is there already is replaced if it is empty or holds a
// `mark_file`, i.e. was made by an earlier run; anything else is refused.
class OutputFolder {
 public:
  OutputFolder(const std::string& path, std::string mark_file);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  void write(const std::string& name, const std::string& text);
  // For what is written as it comes. Closed by commit().
  class Stream {
   public:
    void write(const std::string& text);

   private:
    friend class OutputFolder;
    Stream(std::string path, std::FILE* file) : path_(std::move(path)), file_(file, &std::fclose) {}
    void close();
    std::string path_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  };
  Stream& open(const std::string& name);
  void commit();

 private:
  std::string path_;
  std::string mark_file_;
  std::string draft_;  // empty once committed
  std::vector<std::unique_ptr<Stream>> streams_;
};

// A file that is written as it comes: at a draft beside its place until commit(), removed without.
class OutputStream {
 public:
  explicit OutputStream(const std::string& path);
  ~OutputStream();
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;
  void append(const std::string& text);
  void commit();

 private:
  std::string path_;
  std::string draft_;  // empty: a device or pipe, written in place
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

// One file, replaced in one step by write(). Throws OutputError, in the constructor when its folder
// cannot be written.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  void write(const std::string& text) const;

 private:
  std::string path_;
};

}  // namespace handoff
