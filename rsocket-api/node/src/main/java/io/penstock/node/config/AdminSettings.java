package io.penstock.node.config;

import io.penstock.node.setting.AscendTypes;
import io.penstock.node.setting.PortChoice;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.SettingType;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// Settings of the admin endpoints, which have the TLS and the users of the data port.
public final class AdminSettings {
  private static final String NONE = "none";
  private static final String NAME = "\\*|(?:\\*\\.)?[A-Za-z0-9_-][A-Za-z0-9._-]*|[0-9A-Fa-f:.]+";

  public static final Setting<String> HOST = new Setting<>("admin.host", SettingType.host(), "127.0.0.1",
      "Address of the admin endpoints /metrics and /health. Beyond this host only with TLS and authentication, or with"
          + " --open-to-network.");
  public static final Setting<PortChoice> PORT = new Setting<>("admin.port", SettingType.portOrOff(), "7780",
      "Port of the admin endpoints, or off.");
  public static final Setting<Set<String>> NAMES = new Setting<>("admin.names",
      new SettingType<>("LIST", "names such as node7.example.org or *.example.org, separated by commas, none, or * for"
          + " any", AdminSettings::names, all -> all.isEmpty() ? NONE : String.join(",", all)),
      NONE, "Names by which clients may call the admin endpoints, besides localhost, every address, and the names of"
          + " admin.host and advertise.host.");
  public static final Setting<Boolean> HEALTH_OPEN = new Setting<>("admin.health.open", AscendTypes.flag(), "false",
      "Whether /health tells the state of the node, and no more, to probes without credentials.");
  public static final Setting<Integer> CONNECTIONS = new Setting<>("admin.connections", SettingType.count(1, 1 << 16),
      "64", "Most connections to the admin endpoints.");
  public static final Setting<Duration> TIMEOUT = new Setting<>("admin.timeout", SettingType.duration(), "10s",
      "Longest time of such a connection, from its begin to the last byte of its answer.");

  static final List<Setting<?>> ALL = List.of(HOST, PORT, NAMES, HEALTH_OPEN, CONNECTIONS, TIMEOUT);

  private AdminSettings() {}

  private static Set<String> names(String text) {
    if (text.strip().equals(NONE)) {
      return Set.of();
    }
    Set<String> names =
        Arrays.stream(text.split(",")).map(String::strip).collect(Collectors.toCollection(TreeSet::new));
    if (names.stream().anyMatch(name -> !name.matches(NAME))) {
      throw new IllegalArgumentException();
    }
    return names;
  }
}
