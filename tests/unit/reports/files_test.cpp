// Output folders: whole or not at all, and never over what is not ours.
#include "reports/files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace handoff {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    base_ = fs::temp_directory_path() /
            ("handoff-files-" + std::to_string(::getpid()) + "-" +
             ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(base_);
    place_ = (base_ / "out").string();
  }
  void TearDown() override { fs::remove_all(base_); }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(base_), fs::directory_iterator()));
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream in(fs::path(place_) / name);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  void write_run(const std::string& text) const {
    OutputFolder folder(place_, "report.json");
    folder.write("report.json", text);
    folder.commit();
  }

  fs::path base_;
  std::string place_;
};

TEST_F(Files, AppearAllAtOnce) {
  OutputFolder folder(place_, "report.json");
  folder.open("rows.csv").write("a\n");
  folder.write("report.json", "{}");
  EXPECT_FALSE(fs::exists(place_));
  folder.commit();
  EXPECT_EQ(content("rows.csv"), "a\n");
  EXPECT_EQ(content("report.json"), "{}");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, AreGoneWithoutCommit) {
  write_run("old");
  {
    OutputFolder folder(place_, "report.json");
    folder.write("report.json", "new");
    folder.write("more", "x");
  }
  EXPECT_EQ(content("report.json"), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, ReplaceThoseOfAnEarlierRun) {
  write_run("old");
  std::ofstream(fs::path(place_) / "left_over") << "x";
  write_run("new");
  EXPECT_EQ(content("report.json"), "new");
  EXPECT_FALSE(fs::exists(fs::path(place_) / "left_over"));
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, NeverReplaceWhatIsNotOurs) {
  fs::create_directories(place_);
  EXPECT_NO_THROW(OutputFolder(place_, "report.json"));  // empty
  std::ofstream(fs::path(place_) / "thesis.tex") << "x";
  EXPECT_THROW(OutputFolder(place_, "report.json"), OutputError);
  EXPECT_EQ(content("thesis.tex"), "x");
  const std::string file = (base_ / "file").string();
  std::ofstream(file) << "x";
  EXPECT_THROW(OutputFolder(file, "report.json"), OutputError);
  for (const char* place : {"", ".", "..", "/", "./"})
    EXPECT_THROW(OutputFolder(place, "report.json"), OutputError) << place;
}

TEST_F(Files, MakeTheFoldersAbove) {
  place_ = (base_ / "a/b/out/").string();
  write_run("{}");
  EXPECT_EQ(content("report.json"), "{}");
}

TEST_F(Files, TellWhenAFolderCannotBeMade) {
  std::ofstream(base_ / "file") << "x";
  EXPECT_THROW(OutputFolder((base_ / "file/out").string(), "report.json"), OutputError);
}

}  // namespace
}  // namespace handoff
