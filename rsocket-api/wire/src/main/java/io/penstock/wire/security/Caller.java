package io.penstock.wire.security;

import java.util.Optional;
import java.util.function.Supplier;

/// The user of one connection. The rights of the user are looked up for each request, and again when the rules change,
/// so that a change counts for connections and streams that are there.
public final class Caller {
  private final UserFile.Line line;
  private final Supplier<UserFile> users;
  private final Supplier<AccessRules> rules;

  Caller(UserFile.Line line, Supplier<UserFile> users, Supplier<AccessRules> rules) {
    this.line = line;
    this.users = users;
    this.rules = rules;
  }

  /// Name of the user.
  public String user() {
    return line.user();
  }

  /// Whether the credentials that the user showed are still those of a user: neither the user nor the secret was
  /// removed.
  public boolean isKnown() {
    return users.get().has(line);
  }

  /// The role in the space `space`; empty if the user must not know of it.
  public Optional<Role> role(String space) {
    return rules.get().role(user(), space);
  }

  /// Whether the user may open a space that the node does not have.
  public boolean mayOpenSpaces() {
    return role(Grant.EVERY).filter(role -> role.includes(Role.WRITER)).isPresent();
  }
}
