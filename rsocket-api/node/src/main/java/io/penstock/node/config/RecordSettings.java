package io.penstock.node.config;

import io.penstock.node.setting.AscendTypes;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.SettingType;
import io.penstock.storage.recording.RecordingWriter.WhenFull;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// Settings of what a node records: all that happens, or what happened last before something went wrong.
public final class RecordSettings {
  private static final long LEAST_BYTES = 128L << 20;

  public static final Setting<Optional<Path>> FOLDER = new Setting<>("record", SettingType.pathOrOff(), "off",
      "Folder, empty or new, in which everything that happens to the tiers is recorded; `penstock replay` plays it.");
  public static final Setting<Boolean> PAYLOADS = new Setting<>("record.payloads", AscendTypes.flag(), "false",
      "Whether the recording has the bytes of the blocks, too. Without them they are made from the keys when it is"
          + " played.");
  public static final Setting<Long> BYTES = new Setting<>("record.size", SettingType.longSize(LEAST_BYTES), "8GiB",
      "Maximum size of the recording: its oldest files go. One without its beginning can be read, and cannot be"
          + " played.");
  public static final Setting<Optional<Duration>> AGE = new Setting<>("record.age",
      AscendTypes.orNone(SettingType.duration()), "none", "Maximum age of a file of the recording; older ones go.");
  public static final Setting<WhenFull> FULL = new Setting<>("record.full", SettingType.oneOf(WhenFull.class), "drop",
      "What happens when the disk does not keep up: events are left out, counted, and the recording is played up to"
          + " there; or clients wait.");
  public static final Setting<Optional<Duration>> LAST = new Setting<>("record.last",
      AscendTypes.orNone(SettingType.duration()), "none",
      "How much of the past is kept in memory, and written as a recording when a block is damaged, a level goes down,"
          + " an error is the node's own, or SIGUSR2 comes.");
  public static final Setting<Path> LAST_FOLDER = new Setting<>("record.last.dir", SettingType.path(),
      "recordings", "Folder for what record.last writes: a folder each, of which the newest 8 are kept.");

  static final List<Setting<?>> ALL = List.of(FOLDER, PAYLOADS, BYTES, AGE, FULL, LAST, LAST_FOLDER);

  private RecordSettings() {}
}
