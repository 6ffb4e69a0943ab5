package io.penstock.node.config;

import static java.util.Objects.requireNonNull;

import io.penstock.node.setting.Origin;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.text.YamlReason;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.dataformat.yaml.YAMLFactory;

/// Reads settings from a YAML file. Keys may be nested or dotted, as the writer likes: `block: {bytes: 64KiB}` is
/// `block.bytes: 64KiB`.
final class YamlSource {
  private static final YAMLFactory YAML = new YAMLFactory();
  private static final int DEEPEST = 8;
  private static final Pattern GROUP =
      Pattern.compile("((?:spaces\\.[^.]+\\.)?" + Pattern.quote(LayoutSettings.GROUPS.key()) + ")\\.([^.]+)");
  private static final Pattern SPACE = Pattern.compile("spaces\\.([A-Za-z0-9][A-Za-z0-9_-]*)\\.(.+)");

  private final Path file;
  private final List<Given> given;
  private final List<SpaceGiven> spaces;
  private final List<String> problems;
  private final Set<String> seen = new HashSet<>();
  /// Groups under the key that lists them, each as `NAME: TEXT`.
  private final Map<String, List<String>> groups = new LinkedHashMap<>();
  private final Map<String, Origin> groupOrigins = new HashMap<>();

  private YamlSource(Path file, List<Given> given, List<SpaceGiven> spaces, List<String> problems) {
    this.file = file;
    this.given = given;
    this.spaces = spaces;
    this.problems = problems;
  }

  /// Adds the content of `file` to `given` and `spaces`, and its problems to `problems`.
  static void read(Path file, List<Given> given, List<SpaceGiven> spaces, List<String> problems) {
    if (!Files.isReadable(file) || Files.isDirectory(file)) {
      problems.add("config must be a readable file (was %s, which %s)".formatted(file,
          Files.isDirectory(file)
              ? "is a folder"
              : Files.exists(file) ? "this user may not read" : "is not there"));
      return;
    }
    try (JsonParser parser = YAML.createParser(ObjectReadContext.empty(), file)) {
      YamlSource source = new YamlSource(file, given, spaces, problems);
      source.document(parser);
      source.groups();
    } catch (JacksonIOException e) {
      problems.add("config must be a readable file (was " + file + "): " + e.getMessage());
    } catch (JacksonException e) {
      YamlReason reason = YamlReason.of(file, e);
      problems.add("config must be YAML (was not, from %s): %s".formatted(Origin.ofFile(file, reason.line()),
          reason.words()));
    }
  }

  private void document(JsonParser parser) {
    JsonToken first = parser.nextToken();
    if (first == null || first == JsonToken.VALUE_NULL) {
      return;
    }
    if (first != JsonToken.START_OBJECT) {
      problems.add("config must be a map of keys to values (was " + shape(first) + ", from " + here(parser) + ")");
      return;
    }
    object(parser, "", 1);
  }

  private void object(JsonParser parser, String prefix, int depth) {
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      String key = prefix + name;
      Origin origin = here(parser);
      JsonToken value = parser.nextToken();
      if (value == JsonToken.START_OBJECT && depth < DEEPEST && (!isSetting(key) || takesMap(key))) {
        object(parser, key + ".", depth + 1);
      } else if (value.isScalarValue() && value != JsonToken.VALUE_NULL) {
        scalar(key, parser.getString(), origin);
      } else {
        problems.add("%s must be one value (was %s, from %s)".formatted(key, shape(value), origin));
        parser.skipChildren();
      }
    }
  }

  private void scalar(String key, String text, Origin origin) {
    if (!seen.add(key)) {
      problems.add("%s must be given once (was given again, from %s)".formatted(key, origin));
      return;
    }
    Matcher group = GROUP.matcher(key);
    if (group.matches()) {
      groups.computeIfAbsent(group.group(1), list -> new ArrayList<>()).add(group.group(2) + ": " + text);
      groupOrigins.putIfAbsent(group.group(1), origin);
    } else {
      setting(key, text, origin);
    }
  }

  /// Gives the groups that the file lists one by one, as their setting takes them.
  private void groups() {
    groups.forEach((key, list) -> {
      if (seen.add(key)) {
        setting(key, String.join("; ", list), requireNonNull(groupOrigins.get(key)));
      } else {
        problems.add("%s must be given once (was given again, from %s)".formatted(key, groupOrigins.get(key)));
      }
    });
  }

  private static boolean takesMap(String key) {
    return GROUP.matcher(key + ".name").matches();
  }

  private void setting(String key, String text, Origin origin) {
    Matcher space = SPACE.matcher(key);
    if (NodeSettings.byKey(key).isEmpty() && space.matches()) {
      ofSpace(space.group(1), space.group(2), text, origin);
      return;
    }
    NodeSettings.byKey(key).ifPresentOrElse(setting -> given.add(new Given(setting, text, origin)),
        () -> problems.add(UnknownName.problem("key", key, origin, Setting::key)));
  }

  private void ofSpace(String name, String key, String text, Origin origin) {
    SpaceSettings.ALL.stream().filter(setting -> setting.key().equals(key)).findFirst().ifPresentOrElse(
        setting -> spaces.add(new SpaceGiven(name, new Given(setting, text, origin))),
        () -> problems.add("spaces.%s.%s must be a key of a space, one of %s (was %s, from %s)".formatted(name, key,
            SpaceSettings.ALL.stream().map(Setting::key).collect(Collectors.joining(", ")), key, origin)));
  }

  private static boolean isSetting(String key) {
    return NodeSettings.byKey(key).isPresent();
  }

  private Origin here(JsonParser parser) {
    return Origin.ofFile(file, parser.currentTokenLocation().getLineNr());
  }

  private static String shape(JsonToken token) {
    return switch (token) {
      case START_ARRAY -> "a list";
      case START_OBJECT -> "a map";
      case VALUE_NULL -> "empty";
      default -> "a single value";
    };
  }
}
