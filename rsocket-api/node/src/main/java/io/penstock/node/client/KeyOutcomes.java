package io.penstock.node.client;

import io.penstock.block.BlockKey;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.tier.TierHolds.KeyOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// The outcomes of a command on many keys.
///
/// @param keys number of keys asked for
/// @param done number of keys for which it was done
/// @param unchanged number of keys for which there was nothing to do
/// @param others the other keys, and why not
record KeyOutcomes(int keys, int done, int unchanged, List<Other> others) {
  /// A key for which it was not done.
  ///
  /// @param code the integer of Mooncake Store
  record Other(String key, String why, int code) {}

  static KeyOutcomes of(List<BlockKey> keys, List<KeyOutcome> outcomes) {
    List<Other> others = new ArrayList<>();
    int unchanged = 0;
    for (int i = 0; i < keys.size(); i++) {
      KeyOutcome outcome = outcomes.get(i);
      unchanged += outcome == KeyOutcome.UNCHANGED ? 1 : 0;
      if (!outcome.isDone()) {
        others.add(new Other(keys.get(i).toString(), outcome.name().toLowerCase(Locale.ROOT).replace('_', ' '),
            outcome.code()));
      }
    }
    return new KeyOutcomes(keys.size(), keys.size() - others.size() - unchanged, unchanged, others);
  }

  /// Prints these outcomes.
  ///
  /// @param verb past participle of the operation, such as `pinned`
  /// @return the exit code: a failure was found if it was not done for every key
  int tell(Console console, boolean json, String verb) {
    if (json) {
      console.json(this);
    } else {
      others.forEach(other -> console.say(other.why() + " " + other.key()));
      console.print("%s of %s %s%s".formatted(Numbers.of(done), Plural.of(keys, "block"), verb,
          unchanged == 0 ? "" : ", " + Numbers.of(unchanged) + " had no pin, or it had expired"));
    }
    return others.isEmpty() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }
}
