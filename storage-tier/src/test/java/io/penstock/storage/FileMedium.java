package io.penstock.storage;

import io.penstock.storage.engine.file.Directories;
import java.nio.file.Path;

/// The one folder of a test; after a crash it is a copy of what was there.
final class FileMedium {
  private final Path temporary;
  private int crashes;

  FileMedium(Path temporary) {
    this.temporary = temporary;
  }

  Path directory() {
    return temporary.resolve("journal-" + crashes);
  }

  void crash() {
    Path before = directory();
    crashes++;
    Directories.copy(before, directory());
  }
}
