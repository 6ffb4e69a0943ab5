package io.penstock.lab.plan;

import io.penstock.KvException;
import io.penstock.node.cli.DataException;
import io.penstock.node.cli.InputFile;
import io.penstock.node.plan.Case;
import io.penstock.node.plan.FieldException;
import io.penstock.node.text.Reason;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.StringNode;

/// Result of checking all cases of one file against the rules.
///
/// @param file its name
/// @param kinds numbers of cases, by kind
/// @param differences places where a case and its rule differ
/// @param faults reasons why the file or a case of it cannot be checked
record CaseCheck(String file, Map<String, Integer> kinds, List<Found> differences, List<Fault> faults) {
  /// A difference and its case.
  ///
  /// @param section list that the case stands in
  /// @param number of the case in that list
  /// @param path of the field that differs
  /// @param recorded in the case; null for nothing
  /// @param computed by the rule; null for nothing
  /// @param message all of this in words
  record Found(String section, int number, String path, JsonNode recorded, JsonNode computed, String message) {
    static Found of(Case one, Difference difference) {
      return new Found(one.section(), one.number(), difference.path(), difference.recorded(), difference.computed(),
          one.name() + ": " + difference);
    }
  }

  static CaseCheck of(String file) {
    CaseCheck check = new CaseCheck(file, new TreeMap<>(), new ArrayList<>(), new ArrayList<>());
    try {
      check.read(InputFile.text(file));
    } catch (IOException | DataException e) {
      check.faults.add(Fault.ofFile(Reason.of(e)));
    }
    return check;
  }

  private void read(String document) {
    List<Case> cases;
    try {
      cases = Case.read(document);
    } catch (DataException e) {
      faults.add(Fault.ofFile(file + " " + e.getMessage()));
      return;
    }
    cases.forEach(this::add);
  }

  /// Whether no case of the file could be read.
  boolean isUnreadable() {
    return faults.stream().anyMatch(Fault::isOfFile);
  }

  int cases() {
    return kinds.values().stream().mapToInt(Integer::intValue).sum();
  }

  private void add(Case one) {
    CaseRule rule = CaseRules.of(one).orElse(null);
    if (rule == null) {
      faults.add(Fault.of(one, "must be of a known kind (was " + Case.shortened(one.json().toString()) + ")"));
      return;
    }
    kinds.merge(rule.kind(), 1, Integer::sum);
    try {
      compare(one, rule);
    } catch (FieldException e) {
      faults.add(Fault.of(one, e));
    }
  }

  private void compare(Case one, CaseRule rule) {
    JsonNode refusal = one.json().path("error");
    try {
      Map<String, Object> answer = rule.answer().of(one);
      if (!refusal.isMissingNode() && !answer.containsKey("error")) {
        if (!CaseRules.plans(rule)) { // the planner goes beyond an engine that refused the sides
          found(one, new Difference("error", refusal, MissingNode.getInstance()));
        }
      } else if (answer.keySet().stream().noneMatch(one.json()::has) && !answer.containsKey("error")) {
        faults.add(Fault.of(one, "must have a recorded answer (was without "
            + String.join(", ", answer.keySet().stream().sorted().toList()) + ")"));
      } else {
        Difference.between(one.json(), answer).forEach(difference -> found(one, difference));
      }
    } catch (KvException | IllegalArgumentException | ArithmeticException | IndexOutOfBoundsException e) {
      if (refusal.isMissingNode()) {
        found(one, new Difference("error", refusal, StringNode.valueOf(Case.reason(e))));
      }
    }
  }

  private void found(Case one, Difference difference) {
    differences.add(Found.of(one, difference));
  }
}
