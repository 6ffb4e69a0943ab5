package io.penstock.storage.check;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/// What a repair did about one damage.
///
/// @param damage that was found
/// @param done about it
/// @param file with the bytes that were there, below the journal's directory; null if none are kept
public record RepairAction(Damage damage, Done done, @Nullable String file) {
  public RepairAction {
    requireNonNull(damage, "damage");
    requireNonNull(done, "done");
  }

  /// Ways to do away with damage.
  public enum Done {
    /// The bytes were made what they must have been: all is there again.
    MENDED,
    /// The bytes are kept in the quarantine, and skipped where they were.
    SET_ASIDE,
    /// The end of the file was cut off.
    CUT,
    /// The file was deleted: nobody needs it.
    DELETED,
    /// What is not there, or cannot be read, cannot be mended.
    GIVEN_UP
  }
}
