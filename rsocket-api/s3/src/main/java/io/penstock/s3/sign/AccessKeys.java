package io.penstock.s3.sign;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/// The access keys of a door.
public final class AccessKeys {
  private static final Pattern WORD = Pattern.compile("[\\x21-\\x7e]{1,1024}");

  private final Map<String, AccessKey> keys = new HashMap<>();
  private final Set<String> users = new HashSet<>();

  /// Reads lines of `ID SECRET [USER [TOKEN]]`; empty lines and those that begin with `#` say nothing. Without a user,
  /// the id is the user.
  ///
  /// @param file that has them, for messages
  /// @throws IllegalArgumentException if a line is not of this form
  public static AccessKeys parse(List<String> lines, String file) {
    AccessKeys all = new AccessKeys();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (!line.isEmpty() && !line.startsWith("#")) {
        String[] words = line.split("\\s+");
        boolean isKey = words.length >= 2 && words.length <= 4;
        for (String word : words) {
          isKey &= WORD.matcher(word).matches();
        }
        if (!isKey || all.keys.putIfAbsent(words[0], new AccessKey(words[0], words[1],
            words.length > 2 ? words[2] : words[0], words.length > 3 ? words[3] : null)) != null) {
          throw new IllegalArgumentException(
              ("line %d of %s must be ID SECRET [USER [TOKEN]] with a new id"
                  + " (has another form, or the id of a line before)").formatted(i + 1, file));
        }
      }
    }
    all.keys.values().forEach(key -> all.users.add(key.user()));
    if (all.keys.isEmpty()) {
      throw new IllegalArgumentException("%s must have a line ID SECRET [USER [TOKEN]] (has none)".formatted(file));
    }
    return all;
  }

  /// Whether a key is of the user `name`.
  boolean isUser(String name) {
    return users.contains(name);
  }

  Optional<AccessKey> of(String id) {
    return Optional.ofNullable(keys.get(id));
  }
}
