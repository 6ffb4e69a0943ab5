package io.penstock.s3.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

final class SelectorsTest {
  private static final Predicate<String> USERS = Set.of("alice", "bob")::contains;

  @Test
  void theEntryOfTheUser_goesBeforeThatOfTheBucket() {
    assertThat(Selectors.of("bob", "data", USERS)).containsExactly("user:bob", "bob", "bucket:data", "data");
  }

  @Test
  void aBucketWithTheNameOfAUser_isNotThatUser() {
    assertThat(Selectors.of("bob", "alice", USERS)).containsExactly("user:bob", "bob", "bucket:alice");
  }

  @Test
  void withoutUserOrBucket_thereIsNoEntryOfIt() {
    assertThat(Selectors.of("", "data", name -> false)).containsExactly("bucket:data", "data");
    assertThat(Selectors.of("bob", "", USERS)).containsExactly("user:bob", "bob");
  }

  @Test
  void aUserWhoseNameLooksLikeAnEntry_isNoOther() {
    assertThat(Selectors.of("bucket:data", "", USERS)).containsExactly("user:bucket:data");
  }
}
