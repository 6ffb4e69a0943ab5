package io.penstock.examples.disaggregated.model;

import io.penstock.examples.disaggregated.tensors.ModelFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/// The keys of one object of a configuration. Each is read, or known to change nothing, or refused by name; a key that
/// is null states nothing.
final class ConfigKeys {
  private final Path file;
  private final String path;
  private final JsonNode json;
  private final Set<String> read = new HashSet<>();

  /// @param path of the object, which names of keys follow; empty for the file's own
  ConfigKeys(Path file, String path, JsonNode json) throws ModelFileException {
    this.file = file;
    this.path = path;
    this.json = json;
    if (!json.isObject()) {
      throw new ModelFileException(file, (path.isEmpty() ? "file" : path.substring(0, path.length() - 1))
          + " must be an object (was " + json + ")");
    }
  }

  boolean states(String name) {
    return json.hasNonNull(name);
  }

  /// Whether the key is there, perhaps as null.
  boolean has(String name) {
    return json.has(name);
  }

  private JsonNode node(String name) {
    read.add(name);
    return json.path(name);
  }

  ModelFileException refused(String name, String rule) {
    JsonNode found = json.path(name);
    return new ModelFileException(file,
        "%s%s must be %s (was %s)".formatted(path, name, rule, found.isMissingNode() ? "left out" : found));
  }

  int integer(String name) throws ModelFileException {
    JsonNode found = node(name);
    if (!found.isIntegralNumber() || !found.canConvertToInt()) {
      throw refused(name, "an integer");
    }
    return found.intValue();
  }

  int integer(String name, int absent) throws ModelFileException {
    read.add(name);
    return states(name) ? integer(name) : absent;
  }

  double number(String name) throws ModelFileException {
    JsonNode found = node(name);
    if (!found.isNumber()) {
      throw refused(name, "a number");
    }
    return found.doubleValue();
  }

  double number(String name, double absent) throws ModelFileException {
    read.add(name);
    return states(name) ? number(name) : absent;
  }

  boolean flag(String name, boolean absent) throws ModelFileException {
    JsonNode found = node(name);
    if (states(name) && !found.isBoolean()) {
      throw refused(name, "true or false");
    }
    return states(name) ? found.booleanValue() : absent;
  }

  String text(String name) throws ModelFileException {
    JsonNode found = node(name);
    if (!found.isString()) {
      throw refused(name, "a text");
    }
    return found.stringValue();
  }

  /// A list of texts; empty if it is left out.
  List<String> texts(String name) throws ModelFileException {
    JsonNode found = node(name);
    if (!states(name)) {
      return List.of();
    }
    if (!found.isArray() || found.valueStream().anyMatch(each -> !each.isString())) {
      throw refused(name, "a list of texts");
    }
    return found.valueStream().map(JsonNode::stringValue).toList();
  }

  /// The keys of an object below this one.
  ConfigKeys below(String name) throws ModelFileException {
    return new ConfigKeys(file, path + name + ".", node(name));
  }

  /// Whether two keys state objects or numbers that are equal.
  boolean areEqual(String one, String other) {
    return Objects.equals(node(one), node(other));
  }

  /// The key may have one of these texts, flags or numbers, or be left out.
  void allow(String name, String... values) throws ModelFileException {
    JsonNode found = node(name);
    String text = found.isString() ? found.stringValue() : found.toString();
    if (states(name) && !List.of(values).contains(text)) {
      throw refused(name, String.join(" or ", values));
    }
  }

  /// Keys that are known to change no number.
  void ignore(Set<String> names) {
    read.addAll(names);
  }

  /// @throws ModelFileException naming the first key that nothing has read, and that states something
  void refuseOthers() throws ModelFileException {
    for (String name : json.propertyNames()) {
      if (!read.contains(name) && states(name)) {
        throw refused(name, "left out, since this key is not computed here");
      }
    }
  }
}
