package io.penstock.node.option;

import io.penstock.node.config.RecordSettings;
import io.penstock.node.setting.Setting;
import io.penstock.node.tiers.RecordingStart;
import io.penstock.node.tiers.TierRecording;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import picocli.CommandLine.Option;

/// Options of a command that records what it does: its flows, its connections, and its tiers if it has some. They are
/// the settings of a node, read from the command line alone: the environment of a node is not that of its clients.
public class RecordOptions {
  @Option(names = "--record", paramLabel = "DIR",
      description = "Record what this command does in a folder, empty or new: its flows, its connections, and its tiers"
          + " if it has some. It holds no salt and no password.")
  private @Nullable String folder;

  @Option(names = "--record-size", paramLabel = "SIZE",
      description = "With --record: its maximum size; its oldest files go (default: 8GiB).")
  private @Nullable String size;

  @Option(names = "--record-age", paramLabel = "DURATION",
      description = "With --record: maximum age of its files; older ones go (default: any).")
  private @Nullable String age;

  @Option(names = "--record-full", paramLabel = "drop|wait",
      description = "With --record: what happens when its disk does not keep up. Events are left out and counted, or"
          + " the command waits (default: drop).")
  private @Nullable String full;

  @Option(names = "--record-last", paramLabel = "DURATION",
      description = "Instead of --record: keep so much of the past in memory, and write it as a recording when the"
          + " command fails, a block is damaged, a level goes down, or SIGUSR2 comes.")
  private @Nullable String last;

  @Option(names = "--record-last-dir", paramLabel = "DIR",
      description = "With --record-last: folder that gets a folder for each recording; the newest 8 are kept (default:"
          + " recordings).")
  private @Nullable String lastFolder;

  /// What was given, by setting.
  Map<Setting<?>, String> given() {
    Map<Setting<?>, String> given = new LinkedHashMap<>();
    put(given, RecordSettings.FOLDER, folder);
    put(given, RecordSettings.BYTES, size);
    put(given, RecordSettings.AGE, age);
    put(given, RecordSettings.FULL, full);
    put(given, RecordSettings.LAST, last);
    put(given, RecordSettings.LAST_FOLDER, lastFolder);
    return given;
  }

  static void put(Map<Setting<?>, String> given, Setting<?> setting, @Nullable String text) {
    if (text != null) {
      given.put(setting, text);
    }
  }

  /// Values of the options.
  private record Given(Map<Setting<?>, String> texts) implements RecordingStart.Values {
    @Override
    public <T> T get(Setting<T> setting) {
      String text = texts.getOrDefault(setting, setting.initial());
      try {
        return setting.type().parse().apply(text.strip());
      } catch (IllegalArgumentException | ArithmeticException e) {
        throw new IllegalArgumentException("%s must be %s (was %s)".formatted(setting.flag(), setting.type().rule(),
            text.isBlank() ? "empty" : text), e);
      }
    }
  }

  /// Begins the recording that the options ask for. SIGUSR2 writes what happened last.
  ///
  /// @param configuration of the command, as JSON without secrets; empty for none
  /// @return null if nothing is to be recorded
  public @Nullable TierRecording begin(String configuration) {
    require();
    TierRecording recording = RecordingStart.begin(new Given(given()), configuration);
    if (recording != null) {
      recording.saveOnSignal();
    }
    return recording;
  }

  /// Checks each value, and that none would be ignored.
  ///
  /// @throws IllegalArgumentException if one is wrong
  public void require() {
    Map<Setting<?>, String> given = given();
    Given values = new Given(given);
    given.keySet().forEach(values::get);
    RecordSettings.ignored(given::containsKey).ifPresent(ignored -> {
      throw new IllegalArgumentException("%s must be left out %s %s (was %s)".formatted(ignored.setting().flag(),
          ignored.word(), ignored.other().flag(), given.get(ignored.setting())));
    });
  }

  /// The folder to record in; null without `--record`. A command of several processes gives each a folder in it.
  public @Nullable Path folder() {
    return folder == null ? null : Path.of(folder);
  }

  /// The first of the options that was given.
  public Optional<String> first() {
    return given().keySet().stream().findFirst().map(Setting::flag);
  }

  /// The options for a process of this command, which records into a folder of its name.
  ///
  /// @param takesPayloads whether the process can record the bytes of blocks
  public List<String> arguments(String process, boolean takesPayloads) {
    Map<Setting<?>, String> given = given();
    if (!takesPayloads) {
      given.remove(RecordSettings.PAYLOADS);
    }
    if (last != null) {
      given.putIfAbsent(RecordSettings.LAST_FOLDER, RecordSettings.LAST_FOLDER.initial());
    }
    for (Setting<?> place : List.of(RecordSettings.FOLDER, RecordSettings.LAST_FOLDER)) {
      given.computeIfPresent(place, (setting, path) -> Path.of(path).resolve(process).toString());
    }
    List<String> arguments = new ArrayList<>();
    given.forEach((setting, text) -> arguments.add(setting.flag() + "=" + text));
    return arguments;
  }

  /// Writes what happened last if the command failed.
  ///
  /// @param recording null for none
  /// @param reason null if the command did not fail
  public static void ended(@Nullable TierRecording recording, @Nullable String reason) {
    if (recording != null && reason != null) {
      recording.save(reason);
    }
  }

  /// Records the subscriptions to a flow, or passes the flow on as it is.
  ///
  /// @param recording null for none
  /// @param name of the flow in the recording
  public static <T> Function<Publisher<T>, Publisher<T>> flow(@Nullable TierRecording recording, String name) {
    return recording == null ? flow -> flow : recording.recorder().named(name);
  }
}
