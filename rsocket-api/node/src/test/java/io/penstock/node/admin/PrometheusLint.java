package io.penstock.node.admin;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The rules of `promtool check metrics` for a page of metrics in text form. Source: package `promlint` of
/// prometheus/client_golang, its rules for help, units, counters, reserved suffixes, types, characters and
/// abbreviations.
final class PrometheusLint {
  private static final Pattern COMMENT = Pattern.compile("# (HELP|TYPE) (\\S+)(?: (.*))?");
  private static final Pattern SAMPLE = Pattern.compile("([^\\s{]+)(?:\\{(.*)})? \\S+(?: \\S+)?");
  private static final Pattern LABEL = Pattern.compile("([^=,]+)=\"(?:[^\"\\\\]|\\\\.)*\",?");
  private static final Map<String, String> BASE_UNITS = Map.ofEntries(
      Map.entry("minutes", "seconds"), Map.entry("hours", "seconds"), Map.entry("days", "seconds"),
      Map.entry("weeks", "seconds"), Map.entry("bits", "bytes"), Map.entry("fahrenheit", "celsius"),
      Map.entry("kelvins", "kelvin"), Map.entry("rankine", "celsius"), Map.entry("inches", "meters"),
      Map.entry("yards", "meters"), Map.entry("miles", "meters"), Map.entry("calories", "joules"),
      Map.entry("pounds", "grams"), Map.entry("ounces", "grams"));
  private static final List<String> UNITS =
      List.of("amperes", "bytes", "celsius", "grams", "joules", "kelvin", "meters", "metres", "moles", "seconds",
          "volts");
  private static final List<String> PREFIXES = List.of("pico", "nano", "micro", "milli", "centi", "deci", "deca",
      "hecto", "kilo", "kibi", "mega", "mibi", "giga", "gibi", "tera", "tebi", "peta", "pebi");
  private static final List<String> ABBREVIATIONS =
      List.of("s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "tb", "pb", "m", "h", "d");
  private static final List<String> TYPES = List.of("counter", "gauge", "histogram", "summary", "untyped");

  private record Family(String name, String type, boolean hasHelp, Set<String> labels) {
    private Stream<String> problems() {
      List<String> found = new ArrayList<>();
      boolean spread = type.equals("histogram") || type.equals("summary");
      if (!hasHelp) {
        found.add("no help text");
      }
      if (type.equals("untyped")) {
        found.add("no type");
      }
      if (type.equals("counter") != name.endsWith("_total")) {
        found.add("a counter, and nothing else, ends in _total");
      }
      if (!spread && Stream.of("_count", "_sum", "_bucket").anyMatch(name::endsWith)) {
        found.add("_count, _sum and _bucket are of histograms and summaries");
      }
      if (!type.equals("histogram") && labels.contains("le")) {
        found.add("label le is of histograms");
      }
      if (!type.equals("summary") && labels.contains("quantile")) {
        found.add("label quantile is of summaries");
      }
      if (!Stream.concat(Stream.of(name), labels.stream()).allMatch(word -> word.matches("[a-z0-9_]+"))) {
        found.add("names are snake_case, without colons");
      }
      for (String word : name.split("_")) {
        unit(word).ifPresent(found::add);
        if (ABBREVIATIONS.contains(word)) {
          found.add("unit " + word + " is abbreviated");
        }
        if (TYPES.contains(word)) {
          found.add("type " + word + " is in the name");
        }
      }
      return found.stream().map(problem -> name + ": " + problem);
    }
  }

  private static java.util.Optional<String> unit(String word) {
    String base = BASE_UNITS.get(word);
    if (base == null && !UNITS.contains(word)) {
      base = PREFIXES.stream().filter(word::startsWith).map(prefix -> word.substring(prefix.length()))
          .filter(rest -> UNITS.contains(rest) || BASE_UNITS.containsKey(rest)).findFirst().orElse(null);
    }
    return java.util.Optional.ofNullable(base).map(wanted -> "unit must be " + wanted + " (was " + word + ")");
  }

  private PrometheusLint() {}

  /// @param page as `/metrics` answers it
  /// @return one line each problem; empty if `page` is clean
  /// @throws IllegalArgumentException if a line can not be read, or there are no metrics
  static List<String> problems(String page) {
    Map<String, String> types = new HashMap<>();
    Set<String> helped = new HashSet<>();
    Map<String, Set<String>> labels = new HashMap<>();
    Set<String> series = new HashSet<>();
    List<String> found = new ArrayList<>();
    for (String line : page.lines().filter(each -> !each.isBlank()).toList()) {
      Matcher comment = COMMENT.matcher(line);
      Matcher sample = SAMPLE.matcher(line);
      if (comment.matches()) {
        String text = comment.group(3) == null ? "" : comment.group(3).strip();
        if (comment.group(1).equals("TYPE")) {
          types.put(comment.group(2), text);
        } else if (!text.isEmpty()) {
          helped.add(comment.group(2));
        }
      } else if (!line.startsWith("#") && sample.matches()) {
        if (!series.add(line.substring(0, line.lastIndexOf(' ')))) {
          found.add(line + ": twice");
        }
        Set<String> names = labels.computeIfAbsent(family(sample.group(1), types), any -> new HashSet<>());
        LABEL.matcher(sample.group(2) == null ? "" : sample.group(2)).results()
            .forEach(each -> names.add(each.group(1)));
      } else if (!line.startsWith("#")) {
        throw new IllegalArgumentException("line must be a sample (was " + line + ")");
      }
    }
    if (labels.isEmpty()) {
      throw new IllegalArgumentException("page must have metrics (had none)");
    }
    labels.forEach((name, names) -> new Family(name, types.getOrDefault(name, "untyped"), helped.contains(name), names)
        .problems().forEach(found::add));
    return found.stream().sorted().toList();
  }

  /// The name under which a sample is described: that of a histogram lacks the suffix of the sample.
  private static String family(String sample, Map<String, String> types) {
    return Stream.of("_bucket", "_sum", "_count").filter(sample::endsWith)
        .map(suffix -> sample.substring(0, sample.length() - suffix.length()))
        .filter(name -> List.of("histogram", "summary").contains(types.getOrDefault(name, ""))).findFirst()
        .orElse(sample);
  }
}
