package io.penstock.lab.plan;

import io.penstock.node.plan.Case;
import java.math.BigDecimal;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/// Cases of the sizes that an engine's store settings accept: binary units up to gigabytes, rounded down to whole
/// bytes. The sizes that this node's settings accept have more units, and refuse parts of a byte.
final class SizeRule {
  private static final Pattern FORM = Pattern.compile("(\\d+\\.?\\d*|\\.\\d+)\\s*(gb|mb|kb|b|)");

  private SizeRule() {}

  static boolean fits(JsonNode one) {
    JsonNode input = one.path("input");
    return one.isObject() && one.size() == 2
        && (input.isValueNode() ? one.has("output") || one.has("error") : input.isContainer() && one.has("error"));
  }

  static Map<String, Object> bytes(Case one) {
    JsonNode input = one.json().path("input");
    if (input.isIntegralNumber()) {
      return Map.of("output", input.bigIntegerValue());
    } else if (input.isNumber()) {
      return Map.of("output", input.decimalValue().toBigInteger());
    } else if (input.isBoolean()) {
      return Map.of("output", input.booleanValue()); // a number to the engine
    } else if (!input.isString()) {
      return Map.of("error", "TypeError");
    }
    Matcher form = FORM.matcher(input.stringValue().strip().toLowerCase(Locale.ROOT));
    if (!form.matches()) {
      return Map.of("error", "ValueError");
    }
    int power = switch (form.group(2)) {
      case "gb" -> 30;
      case "mb" -> 20;
      case "kb" -> 10;
      default -> 0;
    };
    return Map.of("output", new BigDecimal(Double.parseDouble(form.group(1)) * (1L << power)).toBigInteger());
  }
}
