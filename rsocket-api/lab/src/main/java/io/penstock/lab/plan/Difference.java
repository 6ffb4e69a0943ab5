package io.penstock.lab.plan;

import io.penstock.node.plan.Case;
import io.penstock.node.text.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;

/// A place where a case and its rule differ.
///
/// @param path of the field, such as `output[3].ports[0]`
/// @param recorded in the case; missing if the case has no such field
/// @param computed by the rule; missing if the rule gives no such field
record Difference(String path, JsonNode recorded, JsonNode computed) {
  /// All places where the answer differs from the case.
  static List<Difference> between(JsonNode recorded, Map<String, Object> answer) {
    List<Difference> found = new ArrayList<>();
    answer.forEach((name, value) -> compare(name, recorded.path(name), Json.MAPPER.valueToTree(value), found));
    return found;
  }

  private static void compare(String path, JsonNode recorded, JsonNode computed, List<Difference> found) {
    if (recorded.isObject() && computed.isObject()) {
      Set<String> names = new TreeSet<>(recorded.propertyNames());
      names.addAll(computed.propertyNames());
      names.forEach(name -> compare(path + "." + name, recorded.path(name), computed.path(name), found));
    } else if (recorded.isArray() && computed.isArray() && recorded.size() == computed.size()) {
      for (int i = 0; i < recorded.size(); i++) {
        compare(path + "[" + i + "]", recorded.get(i), computed.get(i), found);
      }
    } else if (!same(recorded, computed)) {
      found.add(new Difference(path, recorded, computed));
    }
  }

  private static boolean same(JsonNode recorded, JsonNode computed) {
    if (recorded.isNumber() && computed.isNumber()) {
      return (recorded.isIntegralNumber() && computed.isIntegralNumber())
          ? recorded.bigIntegerValue().equals(computed.bigIntegerValue())
          : recorded.doubleValue() == computed.doubleValue();
    }
    return recorded.equals(computed) || (recorded.isMissingNode() && computed.isNull());
  }

  private static String text(JsonNode node) {
    return node.isMissingNode() ? "nothing" : Case.shortened(node.toString());
  }

  @Override
  public String toString() {
    return "%s is recorded as %s, the rule gives %s".formatted(path, text(recorded), text(computed));
  }
}
