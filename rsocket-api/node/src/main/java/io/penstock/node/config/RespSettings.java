package io.penstock.node.config;

import io.penstock.node.setting.AscendTypes;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.SettingType;
import java.time.Duration;
import java.util.List;

/// Settings of the door of Redis' protocol beyond those of every door.
public final class RespSettings {
  public static final Setting<Integer> MOST_VALUE = new Setting<>("resp.value.most",
      SettingType.size(1, 512 << 20), "512 MiB", "Longest value that a client of Redis' protocol may store.");
  public static final Setting<Integer> CONNECTIONS = new Setting<>("resp.connections", SettingType.count(1, 1 << 20),
      "10000", "Most connections of clients of Redis' protocol.");
  public static final Setting<Duration> ROOM = new Setting<>("resp.room.timeout", SettingType.duration(), "350ms",
      "Longest wait of a value that comes by SET for room. Then it is accepted and dropped, which counts.");
  public static final Setting<Duration> GRACE = new Setting<>("resp.grace", SettingType.duration(), "2s",
      "A value in memory that EXISTS finds counts as used, but only once in this time.");
  public static final Setting<Integer> AWAKE = new Setting<>("resp.awake.micros", SettingType.count(0, 1000), "50",
      "Microseconds for which a network thread looks for the next request before it sleeps, while that is of use.");
  public static final Setting<Boolean> FLUSH = new Setting<>("resp.flush", AscendTypes.flag(), "false",
      "Whether FLUSHDB and FLUSHALL remove the values of their space; else they are refused.");

  static final List<Setting<?>> OWN = List.of(MOST_VALUE, CONNECTIONS, ROOM, GRACE, AWAKE, FLUSH);

  private RespSettings() {}
}
