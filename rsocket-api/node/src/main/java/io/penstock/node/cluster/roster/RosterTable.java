package io.penstock.node.cluster.roster;

import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import org.jspecify.annotations.Nullable;

/// A roster for people, at most 80 columns wide as far as names allow: what all members have in common first, then a
/// row for each.
///
/// @param roster that is shown
record RosterTable(Roster roster) {
  @Override
  public String toString() {
    TextTable table = new TextTable("STATE", "BYTES", "CAPACITY", "IN FLIGHT", "MEMBER");
    for (Roster.Entry each : roster.members()) {
      table.row(each.state(), Sizes.human(each.bytes()), capacity(each.capacityBytes()),
          Sizes.human(each.inFlightBytes()), member(each));
    }
    return TextTable.wrapped(totals(), 2) + "\n" + (roster.members().isEmpty() ? "" : table.wrapped())
        + (roster.quotas().isEmpty() ? "" : "\n" + quotas().wrapped());
  }

  private TextTable quotas() {
    TextTable table = new TextTable("BYTES", "QUOTA", "MEMBERS", "SPACE");
    roster.quotas().forEach(each -> table.row(Sizes.human(each.bytes()), Sizes.human(each.quotaBytes()),
        Numbers.of(each.members()), each.space()));
    return table;
  }

  private String totals() {
    Roster.Totals totals = roster.totals();
    return "cluster %s: %s%s; %s of %s, %s in flight".formatted(roster.cluster(),
        Plural.of(totals.members(), "member"), totals.draining() == 0 ? "" : ", " + totals.draining() + " draining",
        Sizes.human(totals.bytes()), capacity(totals.capacityBytes()), Sizes.human(totals.inFlightBytes()));
  }

  private static String capacity(@Nullable Long bytes) {
    return bytes == null ? "unbounded" : Sizes.human(bytes);
  }

  private static String member(Roster.Entry one) {
    return one.name() + (one.place().isEmpty() ? "" : " in " + one.place()) + ", at "
        + String.join(", ", one.endpoints()) + ", generation " + one.generation();
  }
}
