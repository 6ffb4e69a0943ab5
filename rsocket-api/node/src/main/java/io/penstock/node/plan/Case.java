package io.penstock.node.plan;

import io.penstock.node.cli.DataException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// One case of a document: inputs of a rule, and the expected answer.
///
/// @param section name of the list that it stands in, empty for a list that is the document
/// @param number place in that list, from 0
/// @param before the case before it there, for cases that continue from each other
public record Case(String section, int number, JsonNode json, @Nullable JsonNode before) {
  /// All cases of a document: a case, a list of them, or an object with lists of them and notes between.
  ///
  /// @throws DataException if it is no JSON or has no case
  public static List<Case> read(String document) {
    JsonNode root;
    try {
      root = JsonMapper.shared().readTree(document);
    } catch (JacksonException e) {
      throw new DataException("must be JSON (was not, at %s)".formatted(place(e)), e);
    }
    return of(root);
  }

  public static List<Case> of(JsonNode root) {
    List<Case> cases = new ArrayList<>();
    if (root.isArray()) {
      cases.addAll(section("", root));
    } else if (root.isObject() && !root.has("cases") && (root.has("input") || !holdsLists(root))) {
      cases.add(new Case("", 0, root, null));
    } else if (root.isObject()) {
      for (Map.Entry<String, JsonNode> field : root.properties()) {
        if (isCases(field.getValue())) {
          cases.addAll(section(field.getKey(), field.getValue()));
        }
      }
    }
    if (cases.isEmpty()) {
      throw new DataException("must hold at least one case (was " + shortened(root.toString()) + ")");
    }
    return cases;
  }

  /// Whether an object is a file of cases, not one case: its lists hold objects.
  private static boolean holdsLists(JsonNode root) {
    return root.properties().stream().anyMatch(field -> isCases(field.getValue()))
        && !root.has("op") && !root.has("output") && !root.has("prefill");
  }

  private static boolean isCases(JsonNode value) {
    return value.isArray() && value.valueStream().anyMatch(JsonNode::isObject);
  }

  private static List<Case> section(String name, JsonNode list) {
    List<Case> cases = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      cases.add(new Case(name, i, list.get(i), i == 0 ? null : list.get(i - 1)));
    }
    return cases;
  }

  public Fields fields() {
    return Fields.of(json);
  }

  /// The inputs, for kinds that keep them together.
  public Fields input() {
    return fields().at("input");
  }

  /// For example `case 3` or `keys case 0`.
  public String name() {
    return (section.isEmpty() || section.equals("cases") ? "" : section + " ") + "case " + number;
  }

  private static String place(JacksonException e) {
    TokenStreamLocation place = e.getLocation();
    return place == null ? "its end" : "line %d, column %d".formatted(place.getLineNr(), place.getColumnNr());
  }

  /// Why a rule has no answer to a case.
  public static String reason(RuntimeException e) {
    return switch (e) {
      case ArithmeticException overflow -> "numbers must be small enough to multiply (were too large)";
      case IndexOutOfBoundsException index when !String.valueOf(index.getMessage()).contains(" must be ") ->
        "lists must be as long as the numbers of the case say (were shorter)";
      default -> String.valueOf(e.getMessage());
    };
  }

  /// Text for a message: never long, and never empty.
  public static String shortened(String text) {
    return text.isBlank() ? "empty" : text.length() > 120 ? text.substring(0, 120) + " …" : text;
  }
}
