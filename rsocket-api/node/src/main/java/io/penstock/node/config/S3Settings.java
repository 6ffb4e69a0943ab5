package io.penstock.node.config;

import io.penstock.node.setting.Setting;
import io.penstock.node.setting.SettingType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// Settings of the door of S3 beyond those of every door.
public final class S3Settings {
  private static final String NAME = "[a-z0-9-]{1,63}(\\.[a-z0-9-]{1,63}){0,16}";

  public static final Setting<Optional<Path>> KEYS =
      new Setting<>("s3.keys.file", SettingType.pathOrOff(), "off",
          "File with lines ID SECRET [USER [TOKEN]], the access keys with which clients sign. Without it, any signature"
              + " will do, which a node with users refuses.");
  public static final Setting<List<String>> DOMAINS = new Setting<>("s3.domains", domains(), "localhost",
      "Names of this node for clients that put the bucket before the name: BUCKET.NAME.");
  public static final Setting<Integer> MOST_VALUE = new Setting<>("s3.value.most",
      SettingType.size(1, 1 << 30), "512 MiB", "Longest object that a client of S3 may store.");
  public static final Setting<Integer> CONNECTIONS = new Setting<>("s3.connections", SettingType.count(1, 1 << 20),
      "10000", "Most connections of clients of S3.");
  public static final Setting<Duration> ROOM = new Setting<>("s3.room.timeout", SettingType.duration(), "350ms",
      "Longest wait of an object that comes by PUT for room. Then it is accepted and dropped, which counts.");
  public static final Setting<Duration> UPLOAD = new Setting<>("s3.upload.life", SettingType.duration(), "1h",
      "Time after which an upload in parts that did not end is given up.");
  public static final Setting<Integer> UPLOADS = new Setting<>("s3.uploads", SettingType.count(1, 1 << 20), "1000",
      "Most uploads in parts of clients of S3 at a time.");

  public static final Setting<DoorPrefixes> PREFIX = new Setting<>("s3.prefix", new SettingType<>("LIST",
      DoorPrefixes.RULE, DoorPrefixes::parse, DoorPrefixes::toString), "none",
      "What stands before the names of all objects, and with USER=PREFIX before those of a user, who sees no others.");

  static final List<Setting<?>> OWN = List.of(KEYS, DOMAINS, PREFIX, MOST_VALUE, CONNECTIONS, ROOM, UPLOAD, UPLOADS);

  private S3Settings() {}

  private static SettingType<List<String>> domains() {
    return new SettingType<>("NAMES", "names of machines separated by commas", text -> {
      List<String> all = Arrays.stream(text.split(",", -1)).map(String::strip)
          .map(each -> each.toLowerCase(Locale.ROOT)).toList();
      if (!all.stream().allMatch(each -> each.matches(NAME))) {
        throw new IllegalArgumentException();
      }
      return all;
    }, all -> String.join(",", all));
  }
}
