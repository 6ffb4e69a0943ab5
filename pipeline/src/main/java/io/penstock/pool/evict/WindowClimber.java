package io.penstock.pool.evict;

/// Climbs towards the size of a window that has the most hits: it changes the size by a step, and turns round if the
/// next sample of references has fewer hits. The steps get shorter, until the hit rate changes much.
///
/// The hill climber of Einziger, Eytan, Friedman and Manes ("Adaptive Software Cache Management", Middleware '18), with
/// the constants of Caffeine 3.2.
final class WindowClimber {
  private static final double FIRST_STEP = 0.0625;
  private static final double SHORTER = 0.98;
  private static final double RESTART = 0.05;
  private static final long REFERENCES_A_KEY = 10;

  private final long capacity;
  private final long sample;
  private long hits;
  private long misses;
  private double before;
  private double step;
  private long adjustment;

  WindowClimber(long capacity) {
    this.capacity = capacity;
    this.sample = REFERENCES_A_KEY * capacity;
    this.step = -FIRST_STEP * capacity;
  }

  void hit() {
    hits++;
  }

  void missed() {
    misses++;
  }

  /// Keys by which the window shall grow; below 0 if it shall shrink.
  long adjustment() {
    return adjustment;
  }

  /// States what is left of the adjustment.
  void remaining(long keys) {
    adjustment = keys;
  }

  /// Decides about the next adjustment, if the sample is complete.
  void decide() {
    long references = hits + misses;
    if (references < sample) {
      return;
    }
    double rate = (double) hits / references;
    double change = rate - before;
    double amount = change >= 0 ? step : -step;
    step = Math.abs(change) >= RESTART ? Math.copySign(FIRST_STEP * capacity, amount) : SHORTER * amount;
    before = rate;
    adjustment = (long) amount;
    hits = 0;
    misses = 0;
  }
}
