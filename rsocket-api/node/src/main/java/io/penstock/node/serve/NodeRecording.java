package io.penstock.node.serve;

import io.penstock.node.cli.Folders;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.RecordSettings;
import io.penstock.node.config.SpaceSettings;
import io.penstock.node.text.Json;
import io.penstock.node.tiers.RecordingStart;
import io.penstock.node.tiers.TierRecording;
import io.penstock.wire.report.RecordedConnections;
import io.penstock.wire.transport.ConnectionListener;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What a node records, as its settings say.
final class NodeRecording {
  private static final Logger LOG = LoggerFactory.getLogger(NodeRecording.class);

  private NodeRecording() {}

  /// @return null if the node records nothing
  static @Nullable TierRecording begin(NodeConfig config) {
    try {
      return RecordingStart.begin(config::get, words(config));
    } catch (IllegalArgumentException e) { // another start has recorded there
      throw new IllegalArgumentException(
          "record must be an empty or new folder, one for each start (%s)".formatted(e.getMessage()), e);
    }
  }

  /// Settings that were given, those of spaces with `spaces.NAME.` before them. None has a secret: passwords and tokens
  /// are in files, and salts are left out.
  private static String words(NodeConfig config) {
    Map<String, String> words = new TreeMap<>();
    config.effective().stream().filter(NodeConfig.Effective::isGiven)
        .forEach(setting -> words.put(setting.setting().key(), setting.text()));
    words.remove(SpaceSettings.SALT.key());
    config.spaces().forEach(space -> space.effective().stream()
        .filter(setting -> setting.isGiven() && !config.effective().contains(setting)
            && !setting.setting().equals(SpaceSettings.SALT))
        .forEach(setting -> words.put("spaces." + space.name() + "." + setting.setting().key(), setting.text())));
    return Json.MAPPER.writeValueAsString(words);
  }

  static ConnectionListener links(ConnectionListener next, @Nullable TierRecording recording) {
    return RecordedConnections.of(next, recording == null ? null : recording.recorder());
  }

  static void end(@Nullable TierRecording recording) {
    if (recording != null) {
      recording.close();
    }
  }

  /// Ends the recording of a node that does not start, and leaves no trace of it: the next start may record there.
  static void drop(NodeConfig config, @Nullable TierRecording recording) {
    end(recording);
    if (recording != null && !recording.isLast()) {
      config.get(RecordSettings.FOLDER).ifPresent(folder -> {
        try {
          Folders.delete(folder);
        } catch (IOException e) {
          LOG.warn("the recording of a node that did not start is left in {}: {}", folder, e.toString());
        }
      });
    }
  }

  /// Lets SIGUSR2 write what happened last.
  static void saveOnSignal(@Nullable TierRecording recording) {
    if (recording != null) {
      recording.saveOnSignal();
    }
  }
}
