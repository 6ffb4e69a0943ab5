package io.penstock.s3.request;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// The parameters behind the path of a request, decoded.
public final class Query {
  private final Map<String, List<String>> all = new LinkedHashMap<>();

  private Query() {}

  static Query parse(String text) {
    Query query = new Query();
    for (String part : text.split("&", -1)) {
      if (!part.isEmpty()) {
        int equals = part.indexOf('=');
        String name = decoded(equals < 0 ? part : part.substring(0, equals));
        query.all.computeIfAbsent(name, each -> new ArrayList<>(1))
            .add(equals < 0 ? "" : decoded(part.substring(equals + 1)));
      }
    }
    return query;
  }

  private static String decoded(String text) {
    return text.indexOf('%') < 0 && text.indexOf('+') < 0
        ? text
        : new String(Percent.decode(text, true), StandardCharsets.UTF_8);
  }

  public boolean has(String name) {
    return all.containsKey(name);
  }

  /// The first value of `name`; null if there is none.
  public @Nullable String get(String name) {
    List<String> values = all.get(name);
    return values == null ? null : values.getFirst();
  }

  /// The first value of `name`, or `other`.
  public String get(String name, String other) {
    String value = get(name);
    return value == null ? other : value;
  }

  /// Gives every name with its values to `each`.
  public void forEach(BiConsumer<String, List<String>> each) {
    all.forEach(each);
  }

  boolean isEmpty() {
    return all.isEmpty();
  }
}
