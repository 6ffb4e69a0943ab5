package io.penstock.recording;

import static java.util.Objects.requireNonNull;

import io.penstock.PenstockVersion;

/// The text of the first event of a recording: a JSON object with the versions, the reason and the configuration.
final class BeganWords {
  private BeganWords() {}

  static String of(String reason, String configuration) {
    StringBuilder json = new StringBuilder("{");
    add(json, "penstock", PenstockVersion.current());
    add(json, "java", System.getProperty("java.version", ""));
    add(json, "os", "%s %s %s".formatted(System.getProperty("os.name", ""), System.getProperty("os.version", ""),
        System.getProperty("os.arch", "")));
    if (!reason.isEmpty()) {
      add(json, "reason", reason);
    }
    if (!requireNonNull(configuration, "configuration").isEmpty()) {
      json.append(",\"configuration\":").append(configuration);
    }
    return json.append('}').toString();
  }

  private static void add(StringBuilder json, String name, String value) {
    json.append(json.length() == 1 ? "" : ",").append('"').append(name).append("\":\"");
    value.chars().forEach(c -> {
      if (c == '"' || c == '\\') {
        json.append('\\').append((char) c);
      } else if (c < ' ') {
        json.append("\\u%04x".formatted(c));
      } else {
        json.append((char) c);
      }
    });
    json.append('"');
  }
}
