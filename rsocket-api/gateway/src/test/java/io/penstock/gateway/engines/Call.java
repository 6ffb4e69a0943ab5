package io.penstock.gateway.engines;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/// A request that reached an engine.
public record Call(String method, String path, Map<String, String> headers, JsonNode body) {
  public Call {
    Map<String, String> lower = new TreeMap<>();
    headers.forEach((name, value) -> lower.put(name.toLowerCase(Locale.ROOT), value));
    headers = lower;
  }

  /// A header, or an empty text.
  public String header(String name) {
    return headers.getOrDefault(name.toLowerCase(Locale.ROOT), "");
  }
}
