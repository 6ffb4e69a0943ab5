package io.penstock.examples.incidents;

import io.penstock.examples.incidents.script.Schedule;
import io.penstock.examples.incidents.script.Subject;
import java.util.function.Supplier;

/// A fault of the field: inputs, a double of the peer that fails under them, and Penstock under the same inputs.
///
/// @param name on the command line, and of its recording
/// @param issue where it was reported
/// @param title what users saw, in a few words
/// @param promise that the peer breaks
/// @param schedule the inputs
/// @param peer makes the double
/// @param ours makes the subject of Penstock's classes
record Incident(String name, String issue, String title, String promise, Schedule schedule, Supplier<Subject> peer,
    Supplier<Subject> ours) {}
