package io.penstock.storage.rivals;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/// Rates of rivals under the same conditions, round after round.
final class Comparison {
  private final String name;
  private final int blockBytes;
  private final Map<String, List<Double>> rates = new TreeMap<>();

  /// @param name what was done, and how
  Comparison(String name, int blockBytes) {
    this.name = name;
    this.blockBytes = blockBytes;
  }

  /// One round of `rival`, in GB/s.
  void round(String rival, double rate) {
    rates.computeIfAbsent(rival, unknown -> new ArrayList<>()).add(rate);
  }

  boolean has(String rival) {
    return rates.containsKey(rival);
  }

  double median(String rival) {
    double[] sorted = sorted(rival);
    int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  private double[] sorted(String rival) {
    return rates.getOrDefault(rival, List.of()).stream().mapToDouble(Double::doubleValue).sorted().toArray();
  }

  /// What of another rival's median this one's is.
  double ratio(String rival, String to) {
    return median(rival) / median(to);
  }

  String name() {
    return name;
  }

  int blockBytes() {
    return blockBytes;
  }

  /// A line for each rival: median, least and most of the rounds.
  String text() {
    StringBuilder text = new StringBuilder();
    for (String rival : rates.keySet()) {
      double[] all = sorted(rival);
      text.append(String.format(Locale.ROOT, "%-26s %5d KiB  %-34s %7.2f GB/s  (%.2f to %.2f in %d rounds)%n",
          name, blockBytes >> 10, rival, median(rival), all[0], all[all.length - 1], all.length));
    }
    return text.toString();
  }

  Map<String, Object> json() {
    Map<String, Object> medians = new LinkedHashMap<>();
    rates.keySet().forEach(rival -> medians.put(rival, Map.of("median", median(rival), "rounds", rates.get(rival))));
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", name);
    json.put("blockBytes", blockBytes);
    json.put("gigabytesPerSecond", medians);
    return json;
  }
}
