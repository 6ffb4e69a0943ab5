package io.penstock.node.option;

import io.penstock.node.config.RecordSettings;
import io.penstock.node.setting.Setting;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options of a command that records its tiers: the bytes of their blocks can be kept, too.
public final class TierRecordOptions extends RecordOptions {
  @Option(names = "--record-payloads", arity = "0..1", fallbackValue = "true", paramLabel = "true|false",
      description = "With --record: keep the bytes of blocks, too; else they are made from the keys when the recording"
          + " is played (default: false).")
  private @Nullable String payloads;

  @Override
  Map<Setting<?>, String> given() {
    Map<Setting<?>, String> given = super.given();
    put(given, RecordSettings.PAYLOADS, payloads);
    return given;
  }
}
