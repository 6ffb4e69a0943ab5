package io.penstock.node.serve;

import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeConfig.Effective;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.setting.Setting;
import io.penstock.node.text.Reason;
import io.penstock.storage.engine.EngineFailure.DirectoryLockedException;
import io.penstock.storage.engine.EngineFailure.EngineUnavailableException;
import io.penstock.storage.engine.EngineFailure.JournalFormatException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineFailure.StorageFullException;
import io.penstock.storage.record.RecordVersionException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NotDirectoryException;
import org.jspecify.annotations.Nullable;

/// Says which setting named a folder or an engine that a node cannot keep its blocks with, and why.
final class DiskFailure {
  private DiskFailure() {}

  /// Turns a failure of the disk into the exception that a command reports. Returns any other failure unchanged.
  static Throwable of(NodeConfig config, Throwable failure) {
    return switch (failure) {
      case EngineUnavailableException e -> told(config, NodeSettings.SSD_ENGINE, "one that this process can run", e);
      case DirectoryLockedException e ->
        told(config, NodeSettings.SSD_DIR, "a folder that no other process has open", e);
      case JournalFormatException e ->
        told(config, NodeSettings.SSD_DIR, "a folder of this engine, format, model and block shape, or a new one", e);
      case RecordVersionException e -> told(config, NodeSettings.SSD_DIR, "a folder that no newer release wrote", e);
      case StorageFullException e -> told(config, NodeSettings.SSD_DIR, "on a disk with room", e);
      case StorageFailedException e -> told(config, NodeSettings.SSD_DIR, rule(e.getCause()), e);
      default -> failure;
    };
  }

  private static String rule(@Nullable Throwable cause) {
    return switch (cause) {
      case AccessDeniedException e -> "a folder that this user may read and write";
      case FileAlreadyExistsException e -> "a folder";
      case NotDirectoryException e -> "a folder";
      case FileSystemException e when "Not a directory".equals(e.getReason()) -> "in a folder";
      case null, default -> "on a disk that reads and writes";
    };
  }

  private static IOException told(NodeConfig config, Setting<?> setting, String rule, Exception failure) {
    Effective said = config.effective(setting);
    return new IOException(Reason
        .after("%s must be %s (was %s, from %s)".formatted(setting.key(), rule, said.text(), said.origin()), failure),
        failure);
  }
}
