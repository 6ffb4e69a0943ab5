package io.penstock.storage.rivals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/// The system's cache of files.
final class PageCache {
  private PageCache() {}

  /// Has everything of `folder` written, and then forgotten; false where nothing can do that.
  static boolean forget(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Process dd = new ProcessBuilder("dd", "of=" + file, "oflag=nocache", "conv=notrunc,fdatasync", "count=0")
            .redirectErrorStream(true).start();
        dd.getInputStream().readAllBytes();
        if (dd.waitFor() != 0) {
          return false;
        }
      }
      return true;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
