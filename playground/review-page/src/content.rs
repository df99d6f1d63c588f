//! The content of the page: its answer and texts.

use crate::review::{ReviewArea, sign};
use crate::state::{Page, Reviews};
use agent_answer::Diagnostic;
use agent_ui::answer::{AnswerPanel, Sign};
use agent_ui::content::Content;
use agent_ui::editor::Mark;
use agent_ui::page::use_page;
use agent_ui::words::count;
use agent_worker_protocol::review::{Answer, EARLIER, Request};
use std::rc::Rc;
use yew::prelude::*;

impl Content for Reviews {
    const NAME: &'static str = "review";
    const KEYS: &'static [(&'static str, &'static str)] = &[];

    fn wanted(&self) -> Request {
        Request
    }

    fn problems(&self) -> Rc<[Diagnostic]> {
        Rc::clone(&self.problems)
    }

    fn brief(&self) -> Option<(Sign, String)> {
        let answer = self.answer.as_ref()?;
        let sign = sign(answer);
        let text = match &answer.review {
            Some(review) if !review.more.is_empty() => {
                let more = count(review.more.len() as u32, "change");
                format!("{more} with more access")
            }
            _ => String::new(),
        };
        Some((sign, text))
    }

    fn marks(&self) -> Vec<Mark> {
        let review = self.answer.as_ref().and_then(|it| it.review.as_ref());
        let more = review.into_iter().flat_map(|review| &review.more);
        more.flat_map(|drift| drift.places.iter().map(|place| (*place, "near")))
            .collect()
    }

    fn answered(&mut self, answer: Answer) -> bool {
        self.problems = answer.problems.clone().into();
        self.answer = Some(Rc::new(answer));
        true
    }

    fn replaced(&mut self) {
        self.replaced += 1;
    }

    fn answer() -> Html {
        html! { <AnswerPane /> }
    }

    fn toolbar(page: &Page) -> Html {
        let exchange = page.callback(|page, _| exchange(page));
        html! {
            <button onclick={exchange} title="Compare the other way round">{ "Exchange sides" }</button>
        }
    }

    fn help() -> Html {
        html! {
            <>
                <p>
                    { "A lock says what an agent may use. A change of " }<code>{ "agents.md" }</code>
                    { " or of the index changes the lock, and a human accepts that change or refuses it." }
                </p>
                <p>
                    <strong>{ "Review" }</strong>
                    { " compares two locks as " }<code>{ "agent diff" }</code>
                    { " does: what gives the agent more access is first. With both indexes it compares the \
                       definitions of the tools too. Where there is no lock, it is made from " }
                    <code>{ "agents.md" }</code>{ ", the index and the policy of its side." }
                </p>
            </>
        }
    }
}

/// Exchanges the earlier documents with the later ones.
fn exchange(page: &Page) {
    for (kind, earlier) in EARLIER {
        let texts = [kind, earlier].map(|kind| String::from(page.editors.text(kind)));
        for (kind, text) in [earlier, kind].into_iter().zip(&texts) {
            page.editors.replace(kind, text);
        }
    }
}

/// The answer.
#[component]
fn AnswerPane() -> Html {
    let page = use_page::<Reviews>();
    html! {
        <AnswerPanel<Reviews> id="review-answer" label="Review" top={page.content().replaced}>
            <ReviewArea />
        </AnswerPanel<Reviews>>
    }
}
