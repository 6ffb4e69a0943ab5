package io.penstock.node.setting;

import java.util.List;
import java.util.function.Predicate;

/// Settings about one subject, as the help groups them.
///
/// @param title in a few words
public record Topic(String title, List<Setting<?>> settings) {
  public Topic {
    settings = List.copyOf(settings);
  }

  public static Topic of(String title, Setting<?>... settings) {
    return new Topic(title, List.of(settings));
  }

  /// This topic with some of its settings.
  public Topic only(Predicate<Setting<?>> wanted) {
    return new Topic(title, settings.stream().filter(wanted).toList());
  }
}
