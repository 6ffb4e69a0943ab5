package io.penstock.examples.disaggregated.node;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;

/// The turn of a conversation before the one that is asked for.
///
/// @param decode name of the decode node that generated its answer
/// @param request under which that node keeps the blocks of prompt and answer
/// @param tokens of prompt and answer that it has in whole blocks
public record EarlierTurn(String decode, String request, int tokens) {
  public EarlierTurn {
    requireNonNull(decode, "decode");
    requireNonNull(request, "request");
    Checks.notNegative("tokens", tokens);
  }
}
