package io.penstock.node.serve;

import io.penstock.node.cli.Reason;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeConfig.Effective;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.Setting;
import io.penstock.storage.engine.DirectoryLockedException;
import io.penstock.storage.engine.EngineUnavailableException;
import io.penstock.storage.engine.JournalFormatException;
import io.penstock.storage.engine.StorageFailedException;
import io.penstock.storage.engine.StorageFullException;
import io.penstock.storage.record.RecordVersionException;
import java.io.IOException;

/// Says which setting named a folder or an engine that a node cannot keep its blocks with, and why.
final class DiskFailure {
  private DiskFailure() {}

  /// What a command ends with instead of `failure`; `failure` itself if it is not theirs.
  static Throwable of(NodeConfig config, Throwable failure) {
    return switch (failure) {
      case EngineUnavailableException e -> told(config, NodeSettings.SSD_ENGINE, "one that this process can run", e);
      case DirectoryLockedException e -> told(config, NodeSettings.SSD_DIR, "a folder that no other process has open", e);
      case JournalFormatException e -> told(config, NodeSettings.SSD_DIR, "a folder of this engine, format, model and block shape, or a new one", e);
      case RecordVersionException e -> told(config, NodeSettings.SSD_DIR, "a folder that no newer release wrote", e);
      case StorageFullException e -> told(config, NodeSettings.SSD_DIR, "on a disk with room", e);
      case StorageFailedException e -> told(config, NodeSettings.SSD_DIR, "a folder of this user", e);
      default -> failure;
    };
  }

  private static IOException told(NodeConfig config, Setting<?> setting, String rule, Exception failure) {
    Effective said = config.effective(setting);
    return new IOException("%s must be %s (was %s, from %s: %s)".formatted(setting.key(), rule, said.text(), said.origin(), Reason.of(failure)), failure);
  }
}
