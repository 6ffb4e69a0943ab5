package io.penstock.node.party;

import io.penstock.PermanentKvException;

/// A party in another process ended before its work did.
final class PartyGoneException extends PermanentKvException {
  private final String party;

  PartyGoneException(String party, String how) {
    super("party " + party + " must live until the replay ends (was gone: " + how + ")");
    this.party = party;
  }

  String party() {
    return party;
  }
}
