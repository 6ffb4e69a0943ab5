package io.penstock.node.config;

import io.penstock.node.setting.AscendTypes;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.SettingType;
import io.penstock.storage.recording.RecordingWriter.WhenFull;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

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

  /// Settings that say more about the recording of everything.
  private static final List<Setting<?>> OF_FOLDER = List.of(PAYLOADS, BYTES, AGE, FULL);

  /// A setting that would be ignored.
  ///
  /// @param word *with* or *without*
  /// @param other setting that it does not go with, or goes with
  public record Ignored(Setting<?> setting, String word, Setting<?> other) {}

  private RecordSettings() {}

  /// The first given setting that would be ignored, as those that are given go.
  public static Optional<Ignored> ignored(Predicate<Setting<?>> given) {
    if (given.test(FOLDER) && given.test(LAST)) {
      return Optional.of(new Ignored(LAST, "with", FOLDER));
    }
    if (!given.test(FOLDER)) {
      for (Setting<?> setting : OF_FOLDER) {
        if (given.test(setting)) {
          return Optional.of(new Ignored(setting, "without", FOLDER));
        }
      }
    }
    return given.test(LAST_FOLDER) && !given.test(LAST)
        ? Optional.of(new Ignored(LAST_FOLDER, "without", LAST))
        : Optional.empty();
  }
}
