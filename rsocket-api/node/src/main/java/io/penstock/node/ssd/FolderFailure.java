package io.penstock.node.ssd;

import io.penstock.node.text.Reason;
import io.penstock.storage.engine.EngineFailure.DirectoryLockedException;
import io.penstock.storage.engine.EngineFailure.JournalFormatException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.record.RecordVersionException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Supplier;

/// Says why a folder could not be looked after: that is not damage, and has another exit code.
final class FolderFailure {
  private FolderFailure() {}

  /// Result of `work`.
  ///
  /// @throws IOException if the folder is no journal of this release, is in use, or cannot be read
  static <T> T guarded(Path folder, Supplier<T> work) throws IOException {
    try {
      return work.get();
    } catch (DirectoryLockedException e) {
      throw told(folder, "a folder that no process has open", e);
    } catch (JournalFormatException e) {
      throw told(folder, "a folder of blocks of this release", e);
    } catch (RecordVersionException e) {
      throw told(folder, "a folder that no newer release wrote", e);
    } catch (StorageFailedException e) {
      throw told(folder, "a folder that can be read and written", e);
    }
  }

  private static IOException told(Path folder, String rule, Exception failure) {
    String reason = Reason.of(failure);
    boolean isNamed = reason.contains(folder.toString());
    return new IOException("DIR must be %s%s: %s".formatted(rule, isNamed ? "" : " (was " + folder + ")", reason),
        failure);
  }
}
