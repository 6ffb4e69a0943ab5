package io.penstock.wire.security;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Roles of users. A user that is not named has those of [#ANY_USER], or none.
///
/// @param grants of each user
public record AccessRules(Map<String, List<Grant>> grants) {
  /// Stands for every user who is not named.
  public static final String ANY_USER = "*";

  public AccessRules {
    grants = Map.copyOf(grants);
  }

  /// Every user may do everything.
  public static AccessRules open() {
    return new AccessRules(Map.of(ANY_USER, List.of(Grant.everywhere(Role.ADMIN))));
  }

  /// The highest role of `user` in the space `space`; empty if the user must not know of it.
  Optional<Role> role(String user, String space) {
    return of(user).stream().filter(grant -> grant.covers(space)).map(Grant::role).max(Role::compareTo);
  }

  private List<Grant> of(String user) {
    List<Grant> own = grants.get(user);
    return own == null ? grants.getOrDefault(ANY_USER, List.of()) : own;
  }
}
