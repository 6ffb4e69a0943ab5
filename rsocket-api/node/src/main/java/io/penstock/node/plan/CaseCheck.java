package io.penstock.node.plan;

import io.penstock.KvException;
import io.penstock.node.cli.DataException;
import io.penstock.node.cli.InputFile;
import io.penstock.node.cli.Reason;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.TreeMap;
import java.util.TreeSet;
import tools.jackson.core.JacksonException;

/// All cases of one file, against the rules.
///
/// @param file its name
/// @param kinds numbers of cases, by kind
/// @param differences where a case says something else than its rule
/// @param faults why the file or a case of it cannot be checked
record CaseCheck(String file, Map<String, Integer> kinds, List<Found> differences, List<String> faults) {
  /// A difference and its case.
  record Found(String at, String path, String recorded, String computed) {
    @Override
    public String toString() {
      return at + ": " + new Difference(path, recorded, computed);
    }
  }

  static CaseCheck of(String file) {
    CaseCheck check = new CaseCheck(file, new TreeMap<>(), new ArrayList<>(), new ArrayList<>());
    try {
      Case.read(InputFile.text(file)).forEach(check::add);
    } catch (IOException | DataException e) {
      check.faults.add(Reason.of(e));
    }
    return check;
  }

  int cases() {
    return kinds.values().stream().mapToInt(Integer::intValue).sum();
  }

  private void add(Case one) {
    CaseRule rule = CaseRules.of(one).orElse(null);
    if (rule == null) {
      faults.add(one.name() + " is of no known kind (was " + Case.shortened(one.json().toString()) + ")");
      return;
    }
    kinds.merge(rule.kind(), 1, Integer::sum);
    try {
      compare(one, rule);
    } catch (DataException | JacksonException | ClassCastException | NoSuchElementException e) {
      faults.add(one.name() + " is malformed: " + e.getMessage());
    }
  }

  private void compare(Case one, CaseRule rule) {
    boolean refused = one.json().has("error");
    try {
      Map<String, Object> answer = rule.answer().of(one);
      if (refused && !answer.containsKey("error")) {
        if (!CaseRules.plans(rule)) { // the planner goes beyond an engine that refused the sides
          found(one, new Difference("error", one.json().path("error").toString(), "an answer"));
        }
        return;
      }
      if (answer.keySet().stream().noneMatch(one.json()::has) && !answer.containsKey("error")) {
        throw new DataException("must have a recorded answer: " + String.join(", ", new TreeSet<>(answer.keySet())));
      }
      Difference.between(one.json(), answer).forEach(difference -> found(one, difference));
    } catch (KvException | IllegalArgumentException | ArithmeticException | IndexOutOfBoundsException e) {
      if (!refused) {
        found(one, new Difference("case", "an answer", "refused: " + e.getMessage()));
      }
    }
  }

  private void found(Case one, Difference difference) {
    differences.add(new Found(one.name(), difference.path(), difference.recorded(), difference.computed()));
  }
}
