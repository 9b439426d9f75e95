//! Declaration of a run's total, and of a column's heading: label, definition, display unit, and which direction is
//! better.

/// Which direction of a measure is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Better {
    /// Neither: the measure describes the run.
    #[default]
    Neither,
    /// More is better.
    More,
    /// Less is better.
    Less,
}

impl Better {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Neither => "neither",
            Self::More => "more",
            Self::Less => "less",
        }
    }
}

/// How a measure is labelled on axes and in tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// The label.
    pub label: &'static str,
    /// What distinguishes it from other measures of the same label; empty if there are none.
    pub definition: &'static str,
    /// Display unit, if it is not the usual one for the unit of the value: `s` for a time that is no delay, `%` for a
    /// share.
    pub shown: &'static str,
    /// Which direction is better.
    pub better: Better,
}

impl Heading {
    /// No heading: the column is labelled by its name, or like the total of that name.
    pub const NONE: Self = Self { label: "", definition: "", shown: "", better: Better::Neither };

    /// A point in simulated time.
    pub const TIME: Self = Self::new("Time").shown_in("s");

    /// The name of a traffic group.
    pub const GROUP: Self = Self::new("Traffic group");

    /// A heading that is only a label.
    pub const fn new(label: &'static str) -> Self {
        Self { label, ..Self::NONE }
    }
    /// Adds what distinguishes it from others of the same label.
    #[must_use]
    pub const fn told_by(self, definition: &'static str) -> Self {
        Self { definition, ..self }
    }
    /// Sets the display unit.
    #[must_use]
    pub const fn shown_in(self, shown: &'static str) -> Self {
        Self { shown, ..self }
    }
    /// Marks less as better.
    #[must_use]
    pub const fn less(self) -> Self {
        Self { better: Better::Less, ..self }
    }
    /// Marks more as better.
    #[must_use]
    pub const fn more(self) -> Self {
        Self { better: Better::More, ..self }
    }
}

/// The topics under which totals are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// How much arrived, and how fairly it was shared.
    Goodput,
    /// How long flows and queries took.
    Completion,
    /// Losses and their consequences.
    Losses,
    /// The bottleneck's queue, and the work of switches.
    Queue,
    /// The run itself.
    Run,
    /// Lists with one entry per traffic group.
    Groups,
}

impl Topic {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::Completion => "completion",
            Self::Losses => "losses",
            Self::Queue => "queue",
            Self::Run => "run",
            Self::Groups => "groups",
        }
    }
}

/// One total of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total {
    /// Key in the summary, and column in a table of runs.
    pub name: &'static str,
    /// Unit of the value, as in [`super::table::Column::unit`].
    pub unit: &'static str,
    /// Display unit, if it is not the usual one for `unit`: `s` for a time that is no delay, `%` for a share.
    pub shown: &'static str,
    /// The label.
    pub label: &'static str,
    /// What distinguishes it from other measures of the same label; empty if there are none.
    pub definition: &'static str,
    /// Name for a narrow column; `name` if empty.
    pub short: &'static str,
    /// Name as a goal or bound of `fanin compare`, `capacity` and `tune`, if it has one besides `name`.
    pub goal: &'static str,
    /// The full definition in Markdown; empty if label and definition are sufficient.
    pub doc: &'static str,
    /// The topic under which it is listed.
    pub topic: Topic,
    /// Which direction is better.
    pub better: Better,
    /// Whether each traffic group has it too.
    pub of_groups: bool,
    /// Whether it is not displayed while it is zero.
    pub hidden_at_zero: bool,
}

impl Total {
    /// Its heading.
    pub const fn heading(&self) -> Heading {
        Heading { label: self.label, definition: self.definition, shown: self.shown, better: self.better }
    }
    /// A count without a name, from which declarations start.
    pub const fn of(topic: Topic) -> Self {
        Self {
            name: "",
            unit: "1",
            shown: "",
            label: "",
            definition: "",
            short: "",
            goal: "",
            doc: "",
            topic,
            better: Better::Neither,
            of_groups: false,
            hidden_at_zero: false,
        }
    }
}
