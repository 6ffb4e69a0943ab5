package io.penstock.gateway.http;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The quotas of tenants, a line each: a name, then `requests=N`, `tokens=N`, `parallel=N` and `priority=N` in any
/// order, each at most once. The name `*` is for all others. Empty lines and lines with `#` in front are ignored.
public record QuotaFile(Map<String, Quota> quotas) {
  private static final String OTHERS = "*";

  public QuotaFile {
    quotas = Map.copyOf(quotas);
  }

  /// The quota of a tenant.
  Quota of(String tenant) {
    return quotas.getOrDefault(tenant, quotas.getOrDefault(OTHERS, Quota.UNLIMITED));
  }

  /// Reads a file.
  ///
  /// @throws IllegalArgumentException naming the first line that has not the form
  public static QuotaFile read(Path file) throws IOException {
    Map<String, Quota> quotas = new HashMap<>();
    List<String> lines = Files.readAllLines(file, StandardCharsets.UTF_8);
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (!line.isEmpty() && !line.startsWith("#")) {
        String[] words = line.split("\\s+");
        String place = file + ":" + (i + 1);
        if (quotas.put(words[0], quota(words, place)) != null) {
          throw new IllegalArgumentException("tenant must have one line (was again in " + place + ")");
        }
      }
    }
    return new QuotaFile(quotas);
  }

  private static Quota quota(String[] words, String place) {
    Map<String, Long> values = new HashMap<>();
    for (int i = 1; i < words.length; i++) {
      if (!words[i].matches("(requests|tokens|parallel|priority)=[0-9]{1,9}")) {
        throw new IllegalArgumentException(
            "quota must be requests=N, tokens=N, parallel=N or priority=N (was " + words[i] + " in " + place + ")");
      }
      int equals = words[i].indexOf('=');
      if (values.put(words[i].substring(0, equals), Long.valueOf(words[i].substring(equals + 1))) != null) {
        throw new IllegalArgumentException("quota must be named once (was again in " + place + ")");
      }
    }
    try {
      return new Quota(values.getOrDefault("requests", Long.MAX_VALUE), values.getOrDefault("tokens", Long.MAX_VALUE),
          Math.toIntExact(values.getOrDefault("parallel", (long) Integer.MAX_VALUE)),
          Math.toIntExact(values.getOrDefault("priority", (long) Quota.MIDDLE)));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(e.getMessage() + " in " + place, e);
    }
  }
}
