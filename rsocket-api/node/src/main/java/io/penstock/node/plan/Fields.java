package io.penstock.node.plan;

import io.penstock.check.Checks;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/// The fields of one object of a case. A message about a field that is missing or of another type names its path.
///
/// @param path of the object, empty for a case itself
public record Fields(String path, JsonNode node) {
  /// Maximum count that a case can ask for, above every count in a real case.
  private static final int MOST = 1 << 20;
  /// Maximum length of a context, above those of 10 million tokens.
  private static final int MOST_TOKENS = 1 << 24;

  public static Fields of(JsonNode node) {
    return new Fields("", node);
  }

  private String path(String name) {
    return path.isEmpty() ? name : path + "." + name;
  }

  private static FieldException malformed(String path, String rule, JsonNode found) {
    String text = found.toString();
    return new FieldException(path, "must be " + rule,
        found.isMissingNode() ? "left out" : text.length() > 60 ? text.substring(0, 60) + " …" : text);
  }

  /// The exception for a field that is of its type and breaks another rule.
  ///
  /// @param rule such as `must not be empty`
  public FieldException refused(String name, String rule, Object value) {
    return new FieldException(path(name), rule, value);
  }

  public boolean has(String... names) {
    for (String name : names) {
      if (!node.has(name)) {
        return false;
      }
    }
    return true;
  }

  /// Refuses fields of other names: a misspelt one would otherwise count as left out.
  void refuseOthers(Set<String> names) {
    for (String name : node.propertyNames()) {
      if (!names.contains(name)) {
        throw new FieldException(path(name), "must be one of the fields " + String.join(", ", new TreeSet<>(names)),
            name);
      }
    }
  }

  public boolean isNull(String name) {
    return node.path(name).isNull() || !node.has(name);
  }

  /// An object below this one.
  public Fields at(String name) {
    JsonNode found = node.path(name);
    if (!found.isObject()) {
      throw malformed(path(name), "an object", found);
    }
    return new Fields(path(name), found);
  }

  /// The node of a name, of any type.
  public JsonNode any(String name) {
    JsonNode found = node.path(name);
    if (found.isMissingNode()) {
      throw malformed(path(name), "there", found);
    }
    return found;
  }

  public int integer(String name) {
    return integer(path(name), node.path(name));
  }

  int integer(String name, int otherwise) {
    return node.has(name) ? integer(name) : otherwise;
  }

  /// A number of things, not negative and not too large to count.
  public int count(String name) {
    int count = integer(name);
    if (count < 0 || count > MOST) {
      throw malformed(path(name), "in [0, " + MOST + "]", node.path(name));
    }
    return count;
  }

  /// A number of tokens.
  int tokens(String name) {
    int tokens = integer(name);
    if (tokens < 0 || tokens > MOST_TOKENS) {
      throw malformed(path(name), "in [0, " + MOST_TOKENS + "]", node.path(name));
    }
    return tokens;
  }

  int tokens(String name, int otherwise) {
    return node.has(name) ? tokens(name) : otherwise;
  }

  public int count(String name, int otherwise) {
    return node.has(name) ? count(name) : otherwise;
  }

  /// A number of things of which there is at least one.
  ///
  /// @throws IllegalArgumentException if there is none, which an engine refuses, too
  public int positive(String name) {
    return Checks.positive(path(name), count(name));
  }

  public int positive(String name, int otherwise) {
    return node.has(name) ? positive(name) : otherwise;
  }

  private static int integer(String at, JsonNode found) {
    if (!found.isIntegralNumber() || !found.canConvertToInt()) {
      throw malformed(at, "an integer", found);
    }
    return found.intValue();
  }

  /// A number of bytes, not negative.
  public long bytes(String name) {
    JsonNode found = node.path(name);
    if (!found.isIntegralNumber() || !found.canConvertToLong() || found.longValue() < 0) {
      throw malformed(path(name), "an integer >= 0", found);
    }
    return found.longValue();
  }

  public double number(String name) {
    if (!node.path(name).isNumber()) {
      throw malformed(path(name), "a number", node.path(name));
    }
    return node.path(name).doubleValue();
  }

  public boolean flag(String name) {
    if (!node.path(name).isBoolean()) {
      throw malformed(path(name), "true or false", node.path(name));
    }
    return node.path(name).booleanValue();
  }

  public String text(String name) {
    return text(path(name), node.path(name));
  }

  private static String text(String at, JsonNode found) {
    if (!found.isString()) {
      throw malformed(at, "a text", found);
    }
    return found.stringValue();
  }

  String text(String name, String otherwise) {
    return node.has(name) ? text(name) : otherwise;
  }

  public List<Integer> integers(String name) {
    return list(name, Fields::integer);
  }

  public List<List<Integer>> integerLists(String name) {
    return list(name, (at, row) -> elements(at, row, Fields::integer));
  }

  public List<Double> numbers(String name) {
    return list(name, (at, one) -> {
      if (!one.isNumber()) {
        throw malformed(at, "a number", one);
      }
      return one.doubleValue();
    });
  }

  /// Integers, and flags among them.
  public List<Object> integersAndFlags(String name) {
    return list(name, (at, one) -> one.isBoolean() ? (Object) one.booleanValue() : integer(at, one));
  }

  public List<String> texts(String name) {
    return list(name, Fields::text);
  }

  /// Lists of lists of texts.
  public List<List<List<String>>> textLists(String name) {
    return list(name, (at, step) -> elements(at, step, (to, row) -> elements(to, row, Fields::text)));
  }

  public List<Fields> objects(String name) {
    return list(name, (at, one) -> {
      if (!one.isObject()) {
        throw malformed(at, "an object", one);
      }
      return new Fields(at, one);
    });
  }

  <T> List<T> list(String name, Element<T> element) {
    return elements(path(name), node.path(name), element);
  }

  private static <T> List<T> elements(String at, JsonNode found, Element<T> element) {
    if (!found.isArray() || found.size() > MOST) {
      throw malformed(at, "a list", found);
    }
    List<T> list = new ArrayList<>();
    for (int i = 0; i < found.size(); i++) {
      list.add(element.read(at + "[" + i + "]", found.get(i)));
    }
    return list;
  }

  /// An element of a list.
  interface Element<T> {
    T read(String path, JsonNode node);
  }

  /// Value that `read` gives for a text.
  public <T> T parsed(String name, String text, String rule, Function<String, T> read) {
    try {
      return read.apply(text);
    } catch (IllegalArgumentException e) {
      FieldException refused = refused(name, "must be " + rule, text);
      refused.initCause(e);
      throw refused;
    }
  }
}
