package io.penstock.node.serve;

import io.penstock.node.text.YamlReason;
import io.penstock.wire.security.AccessRules;
import io.penstock.wire.security.Grant;
import io.penstock.wire.security.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/// Reads roles and users from YAML.
///
/// ```yaml
/// roles:                                        # beside reader, writer and admin, which hold in every space
///   chat-team: {may: writer, spaces: [chat, code]}
/// users:
///   alice: [chat-team, reader]
///   "*": reader                                 # every user who is not named
/// ```
final class RulesFile {
  private static final YAMLMapper YAML = new YAMLMapper();

  private final Path file;
  private final Map<String, Grant> roles = new HashMap<>();

  private RulesFile(Path file) {
    this.file = file;
    for (Role role : Role.values()) {
      roles.put(role.word(), Grant.everywhere(role));
    }
  }

  /// @throws IllegalArgumentException that names the wrong entry
  static AccessRules read(Path file) throws IOException {
    try {
      return new RulesFile(file).rules(YAML.readTree(Files.readString(file)));
    } catch (JacksonException e) {
      YamlReason reason = YamlReason.of(file, e);
      throw new IllegalArgumentException(
          "%s must be YAML (is not, from line %d): %s".formatted(file, reason.line(), reason.words()), e);
    }
  }

  private AccessRules rules(JsonNode document) {
    requireKeys("document", document, Set.of("roles", "users"));
    if (document.has("roles")) {
      requireMap("roles", document.get("roles"));
      document.get("roles").properties().forEach(each -> role(each.getKey(), each.getValue()));
    }
    Map<String, List<Grant>> users = new HashMap<>();
    if (!document.has("users")) {
      throw refused("users must be given", "were not");
    }
    requireMap("users", document.get("users"));
    document.get("users").properties().forEach(each -> users.put(each.getKey(),
        words("users." + each.getKey(), each.getValue(), name -> grant(each.getKey(), name))));
    return new AccessRules(users);
  }

  private void role(String name, JsonNode said) {
    String what = "roles." + name;
    if (roles.containsKey(name)) {
      throw refused(what + " must have a name of its own", "is " + name);
    }
    requireKeys(what, said, Set.of("may", "spaces"));
    if (!said.has("may") || !said.has("spaces")) {
      throw refused(what + " must have may and spaces", "has not");
    }
    Role may = may(what, said.get("may").asString(""));
    roles.put(name, new Grant(may, new LinkedHashSet<>(words(what + ".spaces", said.get("spaces"), word -> word))));
  }

  private Role may(String what, String word) {
    return Arrays.stream(Role.values()).filter(role -> role.word().equals(word)).findFirst()
        .orElseThrow(() -> refused(what + ".may must be reader, writer or admin", "is " + word));
  }

  private Grant grant(String user, String name) {
    Grant grant = roles.get(name);
    if (grant == null) {
      throw refused("users." + user + " must have roles among "
          + roles.keySet().stream().sorted().collect(Collectors.joining(", ")), "has " + name);
    }
    return grant;
  }

  /// A word or a list of them.
  private <T> List<T> words(String what, JsonNode said, Function<String, T> read) {
    List<T> words = new ArrayList<>();
    for (JsonNode each : said.isArray() ? said.values() : List.of(said)) {
      if (!each.isString()) {
        throw refused(what + " must be a word, or a list of words", "is " + each);
      }
      words.add(read.apply(each.asString()));
    }
    if (words.isEmpty()) {
      throw refused(what + " must have at least one word", "has none");
    }
    return words;
  }

  private void requireKeys(String what, JsonNode map, Set<String> keys) {
    requireMap(what, map);
    map.propertyNames().stream().filter(key -> !keys.contains(key)).findFirst().ifPresent(key -> {
      throw refused(what + " must have keys among " + keys.stream().sorted().collect(Collectors.joining(", ")),
          "has " + key);
    });
  }

  private void requireMap(String what, JsonNode said) {
    if (!said.isObject()) {
      throw refused(what + " must be a map", "is not");
    }
  }

  private IllegalArgumentException refused(String rule, String was) {
    return new IllegalArgumentException(file + ": " + rule + " (" + was + ")");
  }
}
