package io.penstock.wire.security;

import java.util.Optional;
import java.util.function.Supplier;

/// The user of one connection. The rights of the user are looked up for each request, so that a change of the rules
/// counts for existing connections.
public final class Caller {
  private final String user;
  private final Supplier<AccessRules> rules;

  Caller(String user, Supplier<AccessRules> rules) {
    this.user = user;
    this.rules = rules;
  }

  /// Name of the user.
  public String user() {
    return user;
  }

  /// The role in the space `space`; empty if the user must not know of it.
  public Optional<Role> role(String space) {
    return rules.get().role(user, space);
  }

  /// Whether the user may open a space that the node does not have.
  public boolean mayOpenSpaces() {
    return role(Grant.EVERY).filter(role -> role.includes(Role.WRITER)).isPresent();
  }
}
