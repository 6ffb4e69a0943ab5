package io.penstock.s3.serve;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/// The entries of `s3.spaces` that may be meant by a request, the first of them first: those of its user, then those of
/// its bucket. A client names any bucket, so that name alone never is that of a user.
final class Selectors {
  private static final String USER = "user:";
  private static final String BUCKET = "bucket:";

  private Selectors() {}

  /// @param user empty where every request is let in
  /// @param bucket empty if the request has none
  /// @param isUser whether a name is that of a user
  static String[] of(String user, String bucket, Predicate<String> isUser) {
    List<String> all = new ArrayList<>();
    add(all, USER, user, true);
    add(all, BUCKET, bucket, !isUser.test(bucket));
    return all.toArray(String[]::new);
  }

  private static void add(List<String> all, String kind, String name, boolean isPlain) {
    if (!name.isEmpty()) {
      all.add(kind + name);
      if (isPlain && !name.startsWith(USER) && !name.startsWith(BUCKET)) {
        all.add(name);
      }
    }
  }
}
