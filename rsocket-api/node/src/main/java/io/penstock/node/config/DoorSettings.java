package io.penstock.node.config;

import io.penstock.check.InternetAddress;
import io.penstock.node.setting.AscendTypes;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.SettingType;
import io.penstock.node.text.Sizes;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The settings that every door has: a place where clients of another protocol store values.
///
/// @param name of the door, and the key of `listen`
/// @param listen where clients connect; empty for a node without this door
/// @param tls whether connections over TCP have the TLS of the node
/// @param spaces which space of values is whose
/// @param partBytes parts of a space that the node's file does not state: one space for each size, the longest first
/// @param mostValue bytes of the longest value that a client may store
public record DoorSettings(String name, Setting<Optional<Endpoint>> listen, Setting<Boolean> tls,
    Setting<DoorSpaceNames> spaces, Setting<List<Integer>> partBytes, Setting<Integer> mostValue) {
  private static final String OFF = "off";
  private static final String UNIX = "unix:";
  private static final int LEAST_PART = 4096;
  private static final int MOST_PART = 8 << 20;
  private static final int MOST_SIZES = 4;

  /// The door of Redis' protocol.
  public static final DoorSettings RESP =
      of("resp", "Redis' protocol (RESP)", "HOST:PORT or unix:PATH", "a user or database number",
          RespSettings.MOST_VALUE);

  /// The door of S3.
  public static final DoorSettings S3 = of("s3", "S3", "HOST:PORT", "a user or bucket", S3Settings.MOST_VALUE);

  /// All doors.
  public static final List<DoorSettings> DOORS = List.of(RESP, S3);

  /// Memory of the names of values.
  public static final Setting<Long> NAMES = new Setting<>("doors.names.bytes", SettingType.longSizeOrAuto(64 << 10),
      "auto",
      "Memory of the names of values that each space of either door may take, some 700 bytes a name; auto is an eighth"
          + " of the heap. Values beyond that are found nevertheless, but not listed.");

  /// Pace of the search for names after a start.
  public static final Setting<Long> NAMES_RATE = new Setting<>("doors.names.rate", SettingType.longSize(1 << 10),
      "64 MiB", "Bytes a second that are read of each space after a start, to list the values that it has already.");

  /// @param protocol in words
  /// @param places forms of where it listens
  /// @param selectors by which the door tells clients apart
  private static DoorSettings of(String name, String protocol, String places, String selectors,
      Setting<Integer> mostValue) {
    return new DoorSettings(name,
        new Setting<>(name, place(places.contains(UNIX)), OFF,
            "Where clients of " + protocol + " connect, " + places + ", or off. Beyond this host only with TLS"
                + " and authentication, or with --open-to-network."),
        new Setting<>(name + ".tls", AscendTypes.flag(), "true",
            "Whether connections of clients of " + protocol + " have TLS, if the node has a certificate."
                + (places.contains(UNIX) ? " Not at a Unix socket." : "")),
        new Setting<>(name + ".spaces", new SettingType<>("LIST", DoorSpaceNames.RULE, DoorSpaceNames::parse,
            DoorSpaceNames::toString), "values",
            "Space of values that clients of " + protocol + " use; NAME=SPACE gives " + selectors
                + " another one. A space that the"
                + " file does not state is made."),
        new Setting<>(name + ".part.bytes", sizes(), "256.5 KiB,64.5 KiB,4.5 KiB",
            "Parts in which values of the spaces of " + name + ".spaces are stored, up to 4 sizes: a value gets the"
                + " longest that waste no more than a third. Each size is a space of its own."),
        mostValue);
  }

  /// In the order in which people read them.
  public List<Setting<?>> all() {
    return List.of(listen, tls, spaces, partBytes);
  }

  /// The doors that `config` opens.
  public static List<DoorSettings> wanted(NodeConfig config) {
    return DOORS.stream().filter(door -> config.has(door.listen) && config.get(door.listen).isPresent()).toList();
  }

  /// Adds the first setting of each door that is off, and of all doors where none is on: it would be ignored.
  static void requireOpen(NodeConfig config, List<String> problems) {
    requireOpen(config, problems, RESP.name, List.of(RESP), Stream.of(RESP.all(), RespSettings.OWN));
    requireOpen(config, problems, S3.name, List.of(S3), Stream.of(S3.all(), S3Settings.OWN));
    requireOpen(config, problems, "resp or s3", DOORS, Stream.of(List.of(NAMES, NAMES_RATE)));
  }

  private static void requireOpen(NodeConfig config, List<String> problems, String name, List<DoorSettings> doors,
      Stream<List<? extends Setting<?>>> settings) {
    if (doors.stream().allMatch(door -> config.has(door.listen) && config.get(door.listen).isEmpty())) {
      settings.<Setting<?>>flatMap(List::stream).filter(config::changes).findFirst()
          .ifPresent(ignored -> problems.add("%s must be an address for %s (was off)".formatted(name,
              config.said(ignored))));
    }
  }

  /// Name of the space for parts of `bytes`, one of several sizes of the space `name`.
  static String sized(String name, List<Integer> sizes, int bytes) {
    return bytes == sizes.getFirst() ? name : name + "-" + Math.max(1, bytes >> 10) + "k";
  }

  /// Names of the spaces of all sizes of `name`, the longest parts first; just `name` for one that the file states.
  public List<String> sized(NodeConfig config, String name) {
    List<Integer> sizes = config.get(partBytes);
    return sizes.stream().map(bytes -> sized(name, sizes, bytes))
        .filter(each -> config.spaces().stream().anyMatch(space -> space.name().equals(each))).toList();
  }

  /// Most bytes of host memory that values of the space `name` may take, all sizes together: the quota of the space, or
  /// all memory of the node. Spaces with blocks of a model may have some of it.
  public long memoryBytes(NodeConfig config, String name) {
    List<String> sizes = sized(config, name);
    long all = config.get(NodeSettings.DRAM).inBlocks(1);
    long quota = 0;
    for (SpaceSettings space : config.spaces()) {
      if (sizes.contains(space.name())) {
        quota += Math.min(all, space.quotaBytes().orElse(all));
      }
    }
    return Math.min(all, quota);
  }

  private static SettingType<Optional<Endpoint>> place(boolean mayBeUnix) {
    String rule = "HOST:PORT, 0 for any free port" + (mayBeUnix ? ", unix:PATH" : "") + ", or off";
    return new SettingType<>("ADDRESS", rule, text -> parse(text, mayBeUnix),
        place -> place.map(DoorSettings::text).orElse(OFF));
  }

  private static Optional<Endpoint> parse(String text, boolean mayBeUnix) {
    if (text.equals(OFF)) {
      return Optional.empty();
    } else if (mayBeUnix && text.startsWith(UNIX) && text.length() > UNIX.length()) {
      return Optional.of(Endpoint.unix(Path.of(text.substring(UNIX.length()))));
    }
    int colon = text.lastIndexOf(':');
    String host = text.substring(0, Math.max(0, colon));
    boolean isBracketed = host.startsWith("[") && host.endsWith("]");
    if (host.contains(":") != isBracketed) {
      throw new IllegalArgumentException();
    }
    int port = SettingType.port().parse().apply(text.substring(colon + 1));
    return Optional.of(Endpoint.tcp(InternetAddress.host(host), port));
  }

  private static String text(Endpoint place) {
    return place.transport() == TransportKind.UDS ? place.toString() : InternetAddress.text(place.host(), place.port());
  }

  private static SettingType<List<Integer>> sizes() {
    SettingType<Integer> one = SettingType.size(LEAST_PART, MOST_PART);
    return new SettingType<>("SIZES", "1 to " + MOST_SIZES + " sizes from 4 KiB to 8 MiB, multiples of 64 of which no"
        + " two have equal KiB, separated by commas", text -> {
          List<Integer> all = Arrays.stream(text.split(",", -1)).map(String::strip).map(one.parse())
              .sorted(Comparator.reverseOrder()).toList();
          boolean isApart = all.stream().map(bytes -> bytes >> 10).distinct().count() == all.size();
          if (all.size() > MOST_SIZES || !isApart || all.stream().anyMatch(bytes -> bytes % 64 != 0)) {
            throw new IllegalArgumentException();
          }
          return all;
        }, all -> all.stream().map(bytes -> Sizes.exact(bytes)).collect(Collectors.joining(",")));
  }

  /// Settings of all doors: those of one door after those of the other, and then those of both.
  static List<Setting<?>> everyDoor() {
    return Stream.of(RESP.all(), RespSettings.OWN, S3.all(), S3Settings.OWN, List.<Setting<?>>of(NAMES, NAMES_RATE))
        .<Setting<?>>flatMap(List::stream).toList();
  }
}
