package io.penstock.storage.engine;

import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;
import io.penstock.tier.spi.StoreUnavailableException;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// The errors of a [SegmentEngine].
public sealed interface EngineFailure {
  /// A call to the medium failed. Transient: the next one may succeed.
  sealed class StorageFailedException extends StoreUnavailableException implements EngineFailure {
    /// @param work that failed, for example `append to DIRECTORY`
    public StorageFailedException(String work, IOException cause) {
      super("could not " + work + ": " + cause, cause);
    }
  }

  /// The medium does not give a part of a segment.
  final class SegmentUnreadableException extends StorageFailedException {
    private final long offset;

    SegmentUnreadableException(Path file, long offset, IOException cause) {
      super("read " + file + " from " + offset + " on", cause);
      this.offset = offset;
    }

    /// Offset of the first byte that the medium does not give.
    public long offset() {
      return offset;
    }
  }

  /// The medium does not give this record, though it gives others.
  final class RecordUnreadableException extends TransientKvException implements EngineFailure {
    /// @param cause of the newest failure
    public RecordUnreadableException(Location record, Throwable cause) {
      super("record must be readable (was not, more than once: " + record + ")", cause);
    }
  }

  /// The medium has no room for another segment. Transient: a delete makes room.
  final class StorageFullException extends StoreUnavailableException implements EngineFailure {
    /// @param place that is full
    public StorageFullException(String place, long neededBytes, long usableBytes, @Nullable Throwable cause) {
      super("free bytes at " + place + " must be >= " + neededBytes + " (was " + usableBytes + ")", cause);
    }
  }

  /// There is no such record or segment.
  final class UnknownLocationException extends PermanentKvException implements EngineFailure {
    public UnknownLocationException(String engine, int segment) {
      super("segment must be one of engine " + engine + " (was " + segment + ")");
    }

    public UnknownLocationException(String engine, Location location, long end) {
      super("record must end at <= " + end + " of segment " + location.segment() + " of engine " + engine
          + " (was offset " + location.offset() + ", length " + location.length() + ")");
    }
  }

  /// The engine was closed.
  final class EngineClosedException extends PermanentKvException implements EngineFailure {
    public EngineClosedException(String engine) {
      super("engine " + engine + " must be open (was closed)");
    }
  }

  /// Another process has the journal open. Transient: that process may close it.
  final class DirectoryLockedException extends TransientKvException implements EngineFailure {
    /// @param holder its process id, or `unknown`
    public DirectoryLockedException(String place, String holder) {
      super("journal " + place + " must be opened by one process at a time (was open in process " + holder + ")");
    }
  }

  /// Another engine, another version or something else wrote the files at this place. The engine leaves them as they
  /// are.
  final class JournalFormatException extends PermanentKvException implements EngineFailure {
    /// @param name of the wrong value
    /// @param rule for the value
    /// @param value that was found
    public JournalFormatException(String name, String rule, String value) {
      super(name + " must be " + rule + " (was " + value + ")");
    }
  }

  /// This process cannot run the engine. Permanent: a process with other flags or limits can.
  final class EngineUnavailableException extends PermanentKvException implements EngineFailure {
    public EngineUnavailableException(String engine, String rule, String value) {
      super("engine " + engine + " must be " + rule + " (was " + value + ")");
    }
  }
}
