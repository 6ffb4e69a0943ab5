package io.penstock.recording.check;

import io.penstock.check.Checks;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The rules that every recording of this project keeps, and rules with parameters.
///
/// | name | what it says |
/// |---|---|
/// | `demand` | a stream has no more elements than its reader requested |
/// | `cancel` | no element comes after its reader has left; in a named flow one may have been under way |
/// | `end-once` | nothing follows the end of a stream |
/// | `stream-ends` | each stream ends: it completes, fails, or its reader leaves |
/// | `layers` | the slices of a window come in order, each once |
/// | `handles` | each lease, window and reservation is closed |
/// | `visible` | blocks become visible, move and leave as one ledger says, numbered without holes |
/// | `store` | each operation of a store ends once |
/// | `invariant` | no broken invariant was reported |
/// | `outstanding:FLOW:N` | the reader of a named flow never has more than N requested elements to come |
///
/// A gap ends a check: what follows it cannot be judged.
public final class Rules {
  private static final String OUTSTANDING = "outstanding:";

  private Rules() {}

  /// The rules without parameters, in the order of the table.
  public static List<Rule> all() {
    return List.of(rule("demand", DemandRule::new), rule("cancel", () -> new CancelRule(1)),
        rule("end-once", EndOnceRule::new), rule("stream-ends", StreamEndsRule::new), rule("layers", LayersRule::new),
        rule("handles", HandlesRule::new), rule("visible", VisibleRule::new), rule("store", StoreRule::new),
        rule("invariant", () -> Rules::reported));
  }

  /// The rule of a name from the table.
  ///
  /// @throws IllegalArgumentException if there is none
  public static Rule named(String name) {
    if (name.startsWith(OUTSTANDING)) {
      return outstanding(name);
    }
    List<String> names = new ArrayList<>();
    for (Rule rule : all()) {
      if (rule.name().equals(name)) {
        return rule;
      }
      names.add(rule.name());
    }
    throw new IllegalArgumentException(
        "rule must be one of %s, outstanding:FLOW:N (was %s)".formatted(String.join(", ", names), name));
  }

  /// The reader of flow `flow` never has more than `most` requested elements to come.
  ///
  /// @param flow name of the flow
  /// @param most elements
  public static Rule outstanding(String flow, long most) {
    Checks.positive("most", most);
    return rule(OUTSTANDING + flow + ":" + most, () -> new OutstandingRule(flow, most));
  }

  private static Rule outstanding(String name) {
    int colon = name.lastIndexOf(':');
    try {
      if (colon > OUTSTANDING.length()) {
        return outstanding(name.substring(OUTSTANDING.length(), colon), Long.parseLong(name.substring(colon + 1)));
      }
    } catch (NumberFormatException e) {
      // told below
    }
    throw new IllegalArgumentException("rule must be outstanding:FLOW:N with a number N (was " + name + ")");
  }

  static Rule rule(String name, Supplier<Rule.Checker> checker) {
    return new Named(name, checker);
  }

  private static @Nullable String reported(RecordedEvent event) {
    return event.kind() == Kind.BROKEN ? event.text() : null;
  }

  private record Named(String name, Supplier<Rule.Checker> checker) implements Rule {
    @Override
    public Checker begin() {
      return new UpToGap(checker.get());
    }

    @Override
    public String toString() {
      return name;
    }
  }

  /// Checks up to the first gap.
  private static final class UpToGap implements Rule.Checker {
    private final Rule.Checker checker;
    private boolean isOver;

    UpToGap(Rule.Checker checker) {
      this.checker = checker;
    }

    @Override
    public @Nullable String broken(RecordedEvent event) {
      isOver |= event.kind() == Kind.GAP;
      return isOver ? null : checker.broken(event);
    }

    @Override
    public @Nullable String brokenAtEnd() {
      return isOver ? null : checker.brokenAtEnd();
    }
  }
}
